import { type TSchema, Type } from '@sinclair/typebox'
import { Int64 } from './numbers.ts'

/** Rejects keys that a schema does not list. */
export const strict = { additionalProperties: false }

const SuccessSchema = Type.Boolean({ description: 'true: the request succeeded.', examples: [true] })

/**
 * Returns the schema of a success: `{ success: true, data }`. The status is always 200. Every envelope has a name of its
 * own: generators merge equal schemas without one. `success` has no `const`: some clients reject every success with it.
 */
export const Envelope = <T extends TSchema>(title: string, data: T) =>
  Type.Object({ success: SuccessSchema, data }, { title, description: 'The body of a success.', ...strict })

export const ok = <T>(data: T) => ({ success: true as const, data })

export const DoneSchema = Type.Object(
  { success: SuccessSchema },
  { title: 'Done', description: 'The result of an operation that returns no data.', ...strict }
)

/** The response of operations that return no data. */
export const OkSchema = Envelope('DoneEnvelope', DoneSchema)

export const done = () => ok({ success: true as const })

/** An id in a path. `plugins/http/schema-compilers.ts` converts its decimal text to a number. */
const idSchema = (description: string) => Int64({ minimum: 1, maximum: 999_999_999, description, examples: [3] })
const idParams = (description: string) => Type.Object({ id: idSchema(description) }, strict)

export const TableIdSchema = idSchema('Id of the table.')
export const TableIdParamsSchema = idParams('Id of the table.')
export const RoleIdParamsSchema = idParams('Id of the role.')
export const TokenIdParamsSchema = idParams('Id of the token.')
export const AdminKeyIdParamsSchema = idParams('Id of the admin key.')
export const AdminIdParamsSchema = idParams('Id of the administrator.')

export const timestampSchema = (description: string) =>
  Int64({ description: `${description} In epoch milliseconds.`, examples: [1767225600000] })

export const CreatedAtSchema = timestampSchema('Time of the creation.')
export const UpdatedAtSchema = timestampSchema('Time of the last change.')
