import { parseBase64, parseInteger } from '../literals.ts'
import type { SqlValue } from '../sql-value.ts'
import type { Kind } from './kind.ts'
import { loose } from './loose.ts'
import { parseNumericKey } from './number-keys.ts'

const textOrBytes = (text: string): readonly SqlValue[] => [text, parseBase64(text) ?? text]

/** JSON shows an integer that a JSON number would round as text. */
const textOrWideInteger = (text: string) => {
  const integer = parseInteger(text)
  return integer === undefined || Number.isSafeInteger(Number(integer)) ? text : integer
}

/** Values of any type in a column without an affinity: each stays as it was sent. */
export const untyped: Kind = {
  ...loose,
  name: 'untyped',
  isUntyped: true,
  parseKey: (text) => {
    const value = parseNumericKey(text)?.[0]
    return value === undefined || value === text ? textOrBytes(text) : [value, text]
  },
  sameInJson: (value) =>
    typeof value === 'string' ? [...textOrBytes(value), textOrWideInteger(value)] : [value, value, value]
}
