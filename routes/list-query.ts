import { parseJson } from '../plugins/http/json-body.ts'
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
const parseFilter = (text: string, keepsWideIntegers: boolean) => {
  try {
    return parseJson(Buffer.from(text), { keepsWideIntegers, subject: "'filter'" })
  } catch (error) {
    throw invalidFilter((error as DomainError).message)
  }
}

const splitNames = (names: string) => names.split(',').map((name) => name.trim())

/**
 * Returns the parameters of a list. Parses `filter`, and splits `fields` and `expand` at commas. An empty filter counts as
 * absent.
 * @throws VALIDATION_FAILED
 */
export const readListQuery = <Q extends TextQuery>(
  { filter = '', fields, expand, ...query }: Q,
  keepsWideIntegers = false
) => ({
  ...query,
  ...(filter !== '' && { filter: parseFilter(filter, keepsWideIntegers) }),
  ...(fields !== undefined && { fields: splitNames(fields) }),
  ...(expand !== undefined && { expand: splitNames(expand) })
})
