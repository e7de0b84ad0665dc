import { type TSchema, Type } from '@sinclair/typebox'

/** Keys that a schema does not list are refused. */
export const strict = { additionalProperties: false }

/** Every success: `{ success: true, data }`, with status 200 (SPEC section 1). */
export const Envelope = <T extends TSchema>(data: T) => Type.Object({ success: Type.Literal(true), data }, strict)

export const ok = <T>(data: T) => ({ success: true as const, data })

/** The answer of operations that only confirm an action. */
export const OkSchema = Envelope(Type.Object({ success: Type.Literal(true) }, strict))

export const done = () => ok({ success: true as const })

/** Ids in paths: `^[1-9]\d{0,8}$`, made a number by the strict conversion of `plugins/http/schema-compilers.ts`. */
export const IdSchema = Type.Integer({ minimum: 1, maximum: 999_999_999 })
export const IdParamsSchema = Type.Object({ id: IdSchema }, strict)

/** Epoch milliseconds. */
export const TimestampSchema = Type.Integer({ description: 'Epoch milliseconds.' })
