import { invalid, type Violation } from '../../model/errors.ts'
import { roundedKey } from '../failures.ts'
import type { Access } from './access.ts'

const fail = ({ code, message }: Violation) => invalid([{ path: '/pk', code, message: `'pk' ${message}.` }])

const VALUE_TYPES = new Set(['string', 'number', 'bigint', 'boolean'])
const FORMS = 'must be a string, a number, a list of them, or an object with the fields of the key'

/** Returns a value of a key as text. A `bigint` is a wide integer. @throws VALIDATION_FAILED */
const valueText = (value: unknown): string => {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) throw roundedKey()
  if (VALUE_TYPES.has(typeof value)) return String(value)
  throw fail({ code: 'type', message: FORMS })
}

/** Returns the values in the order of the key. @throws VALIDATION_FAILED if there is not one for each field of the key */
const valuesOf = (key: readonly string[], sent: object): readonly unknown[] => {
  const isComplete = Array.isArray(sent) || key.every((name) => Object.hasOwn(sent, name))
  const values = Object.values(sent)
  if (isComplete && values.length === key.length)
    return Array.isArray(sent) ? sent : key.map((name) => Reflect.get(sent, name))
  const count = key.length === 1 ? 'the field' : `each of the ${key.length} fields`
  throw fail({ code: 'length', message: `must have a value for ${count} of the key, and no other` })
}

/**
 * Returns the text of the key that a body has: a text in the form of a path, a number, a list of values in the order of
 * the key, or an object with the value of each field.
 * @throws VALIDATION_FAILED
 */
export const bodyKeyText = ({ table: { structure } }: Access, pk: unknown): string => {
  if (typeof pk !== 'object' || pk === null) return valueText(pk)
  const texts = valuesOf(structure.key, pk).map(valueText)
  return texts.length === 1 ? String(texts[0]) : texts.map(encodeURIComponent).join()
}
