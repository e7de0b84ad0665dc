import { isUtf8 } from 'node:buffer'
import { DomainError, excerpt, type Fault, invalid, pointer } from '../../services/model/errors.ts'

/** Nesting of a body beyond which it is refused, well below what any recursion here or in SQLite (1,000) takes. */
const DEEPEST_BODY = 100

/** Keys, objects and arrays of a body, at any depth. Each of them costs V8 as much as many bytes do. */
const MOST_PARTS = 20_000
/** A body of fewer bytes cannot have so many: `[]` is the shortest of them. */
const SHORTEST_PART = 2

const [QUOTE, BACKSLASH, COLON, BRACKET, BRACE] = [0x22, 0x5c, 0x3a, 0x5b, 0x7b]

/** Behind each key is the only kind of colon that stands outside a text. */
const countParts = (bytes: Buffer) => {
  let parts = 0
  let isText = false
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]
    if (byte === QUOTE) isText = !isText
    else if (byte === BACKSLASH) index += 1
    else if (!isText && (byte === COLON || byte === BRACKET || byte === BRACE)) parts += 1
  }
  return parts
}

const hasTooManyParts = (bytes: Buffer) => bytes.length > MOST_PARTS * SHORTEST_PART && countParts(bytes) > MOST_PARTS

const malformed = (message: string) => new DomainError('MALFORMED_JSON', message)

const stringFault = (text: string): Fault | undefined => {
  if (text.includes('\0')) return { code: 'format', message: 'contains a NUL character' }
  return text.isWellFormed() ? undefined : { code: 'format', message: 'contains half of a surrogate pair' }
}

const within = (key: string, fault: Fault): Fault => ({
  ...fault,
  below: pointer(excerpt(key)) + (fault.below ?? '')
})

const itemFault = (items: readonly unknown[], depth: number): Fault | undefined => {
  for (let index = 0; index < items.length; index += 1) {
    const fault = findFault(items[index], depth)
    if (fault) return within(String(index), fault)
  }
  return undefined
}

const memberFault = (value: object, depth: number): Fault | undefined => {
  if (depth === 0) return { code: 'depth', message: `is nested deeper than ${DEEPEST_BODY} levels` }
  if (Array.isArray(value)) return itemFault(value, depth - 1)
  for (const key of Object.keys(value)) {
    const fault = stringFault(key) ?? findFault(Reflect.get(value, key), depth - 1)
    if (fault) return within(key, fault)
  }
  return undefined
}

/** What no JSON value of ours may hold, wherever it stands: NUL, lone surrogates, numbers beyond a double. */
export const findFault = (value: unknown, depth = DEEPEST_BODY): Fault | undefined => {
  if (typeof value === 'string') return stringFault(value)
  if (typeof value === 'object' && value !== null) return memberFault(value, depth)
  const isBeyondDouble = typeof value === 'number' && !Number.isFinite(value)
  return isBeyondDouble ? { code: 'range', message: 'is beyond what a number can be' } : undefined
}

export const refuse = ({ code, message, below: path = '' }: Fault) =>
  invalid([{ path, code, message: `${path === '' ? 'The body' : `'${path.slice(1)}'`} ${message}.` }])

/** The value of a JSON body, undefined for an empty one. @throws MALFORMED_JSON, VALIDATION_FAILED */
export const parseJson = (bytes: Buffer): unknown => {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.')
  if (hasTooManyParts(bytes))
    throw refuse({ code: 'length', message: `has more than ${MOST_PARTS} keys, objects and arrays` })
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw malformed('The body is not valid JSON.')
  }
  const fault = findFault(value)
  if (fault) throw refuse(fault)
  return value
}
