import { parseJson } from '../plugins/http/json-body.ts'
import type { ExportQuerySchema, ListQuerySchema } from '../schemas/record.ts'
import type { IntegerFormat } from '../schemas/token.ts'
import { type DomainError, invalid } from '../services/model/errors.ts'
import { splitNames, splitPaths } from '../services/model/names.ts'
import type { Access } from '../services/records/access/access.ts'
import type { ReadableTables } from '../services/records/access/readable.ts'
import { checkParameters } from '../services/records/read/parameters.ts'

interface TextQuery {
  readonly filter?: string
  readonly fields?: string
  readonly expand?: string
}

const invalidFilter = (message: string) =>
  invalid(
    [{ path: '/filter', code: 'format', message }],
    'For example: filter={"where":{"price":{"gte":10}}}, percent-encoded.'
  )

/** @throws VALIDATION_FAILED */
const parseFilter = (text: string, integers: IntegerFormat) => {
  try {
    return parseJson(Buffer.from(text), { keepsWideIntegers: integers === 'number', subject: "'filter'" })
  } catch (error) {
    throw invalidFilter((error as DomainError).message)
  }
}

/**
 * Returns the parameters of a list. Parses `filter`, whose integers have the format of the caller, and splits `fields` and
 * `expand` at commas. An empty filter counts as absent. Empty `fields` are
 * those of the key.
 * @throws VALIDATION_FAILED
 */
export const readListQuery = <Q extends TextQuery & Readonly<Record<string, unknown>>>(
  query: Q,
  { access, readable }: { readonly access: Access; readonly readable: ReadableTables },
  { properties }: typeof ListQuerySchema | typeof ExportQuerySchema
) => {
  checkParameters({ access, readable }, query, properties)
  const { filter = '', fields, expand, ...others } = query
  return {
    ...others,
    ...(filter !== '' && { filter: parseFilter(filter, access.integers) }),
    ...(fields !== undefined && { fields: fields === '' ? [] : splitNames(fields) }),
    ...(expand !== undefined && { expand: splitPaths(expand) })
  }
}
