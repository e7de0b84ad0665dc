import { isJsonObject } from '../model/json-object.ts'

/** The claims of a JWT, as its issuer has written them. */
export type Payload = Readonly<Record<string, unknown>>

/** Returns the names of claims and their pointers, from a list such as `customer=/customer,tenant=/app/tenant`. */
export const parseClaimPointers = (list: string): readonly (readonly [name: string, pointer: string])[] =>
  list.split(',').map((entry) => {
    const [name = '', ...pointer] = entry.trim().split('=')
    return [name, pointer.join('=')]
  })

const unescapePart = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

const memberOf = (value: unknown, name: string): unknown => {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** Returns the value at a JSON Pointer (RFC 6901); undefined if there is none. */
export const valueAt = (payload: Payload, pointer: string): unknown =>
  pointer.split('/').slice(1).map(unescapePart).reduce<unknown>(memberOf, payload)
