import { type TSchema, Type } from '@sinclair/typebox'

/** Rejects keys that a schema does not list. */
export const strict = { additionalProperties: false }

/** Returns the schema of a success: `{ success: true, data }`. The status is always 200. */
export const Envelope = <T extends TSchema>(data: T) => Type.Object({ success: Type.Literal(true), data }, strict)

export const ok = <T>(data: T) => ({ success: true as const, data })

/** The response of operations that return no data. */
export const OkSchema = Envelope(Type.Object({ success: Type.Literal(true) }, strict))

export const done = () => ok({ success: true as const })

/** An id in a path. `plugins/http/schema-compilers.ts` converts its decimal text to a number. */
export const IdSchema = Type.Integer({ minimum: 1, maximum: 999_999_999 })
export const IdParamsSchema = Type.Object({ id: IdSchema }, strict)

export const TimestampSchema = Type.Integer({ description: 'Epoch milliseconds.' })
