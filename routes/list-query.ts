import { parseJson } from '../plugins/http/json-body.ts'
import type { IntegerFormat } from '../schemas/token.ts'
import { type DomainError, invalid } from '../services/model/errors.ts'

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

const splitNames = (names: string) => names.split(',').map((name) => name.trim())

/**
 * Returns the parameters of a list. Parses `filter`, whose integers have the format of the caller, and splits `fields` and
 * `expand` at commas. An empty filter counts as absent.
 * @throws VALIDATION_FAILED
 */
export const readListQuery = <Q extends TextQuery>(
  { filter = '', fields, expand, ...query }: Q,
  integers: IntegerFormat
) => ({
  ...query,
  ...(filter !== '' && { filter: parseFilter(filter, integers) }),
  ...(fields !== undefined && { fields: splitNames(fields) }),
  ...(expand !== undefined && { expand: splitNames(expand) })
})
