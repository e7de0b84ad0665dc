import { type Static, Type } from '@sinclair/typebox'
import { Envelope, strict } from './envelope.ts'
import { Int32 } from './numbers.ts'
import { ActionSchema } from './token-action.ts'

const TableSchema = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Name of the table, as in a path.',
  examples: ['orders']
})

const KeySchema = Type.String({
  maxLength: 8192,
  description: 'The primary key of a record, as in a path. The response then has `record`.',
  examples: ['17']
})

export const ExplanationRequestSchema = Type.Object(
  { table: TableSchema, action: ActionSchema, key: Type.Optional(KeySchema) },
  {
    title: 'TokenExplanationInput',
    description: 'A question about a token: may it perform this action on this table?',
    examples: [{ table: 'orders', action: 'read', key: '17' }],
    ...strict
  }
)
export type ExplanationRequest = Static<typeof ExplanationRequestSchema>

const DecidingGrantSchema = Type.Object(
  {
    role: Type.String({ description: 'Name of the role.', examples: ['customer'] }),
    position: Int32({
      minimum: 1,
      description: 'Position of the grant in the role. The first one is 1.',
      examples: [1]
    }),
    tables: Type.Array(Type.String(), { description: 'The tables that the grant names.', examples: [['orders']] }),
    actions: Type.Array(Type.String(), {
      description: 'The actions that the grant lists.',
      examples: [['read', 'create']]
    })
  },
  {
    title: 'TokenExplanationGrant',
    description:
      'The grant of the role that decides. Absent if the role has none for the table and the action, and for a token without a role.',
    examples: [{ role: 'customer', position: 1, tables: ['orders'], actions: ['read', 'create'] }],
    ...strict
  }
)

const PresetSchema = Type.Object(
  {
    field: Type.String({ description: 'Name of the field.', examples: ['customer_id'] }),
    value: Type.String({ description: 'The value in words.', examples: ['17'] })
  },
  {
    title: 'TokenExplanationPreset',
    description: 'A value that each created record gets.',
    examples: [{ field: 'customer_id', value: '17' }],
    ...strict
  }
)

const ExplainedRecordSchema = Type.Object(
  {
    key: Type.String({ description: 'The primary key, as it was sent.', examples: ['17'] }),
    exists: Type.Boolean({ description: 'Whether the table has the record.', examples: [true] }),
    isVisible: Type.Boolean({
      description: 'Whether the token can use the record with the action.',
      examples: [false]
    })
  },
  {
    title: 'TokenExplanationRecord',
    description:
      'Whether the record exists, and whether the action can use it. Absent without a `key`, for `create` and `schema`, and if the table cannot be read.',
    examples: [{ key: '17', exists: true, isVisible: false }],
    ...strict
  }
)

const names = (description: string, example: readonly string[]) =>
  Type.Array(Type.String(), { description, examples: [example] })

const ExplanationSchema = Type.Object(
  {
    allowed: Type.Boolean({ description: 'Whether the token may perform the action on the table.', examples: [true] }),
    reason: Type.String({
      description: 'Why, as a sentence.',
      examples: ["Grant 1 of the role 'customer' opens the action 'read' on the table 'orders'."]
    }),
    grant: Type.Optional(DecidingGrantSchema),
    rows: Type.String({
      description: 'The rule of the deciding grant, as a sentence, also if the action is refused.',
      examples: ["Records where customer_id equals 17 and state is not 'archived'."]
    }),
    readable: names('The fields that the token sees in the response to the action.', ['id', 'state', 'total']),
    writable: names('The fields that the token can set. Only for `create` and `update`.', ['state', 'note']),
    presets: Type.Array(PresetSchema, {
      description: 'Values of fields in each record that the token creates. Only for `create`.'
    }),
    record: Type.Optional(ExplainedRecordSchema)
  },
  {
    title: 'TokenExplanation',
    description: 'What a token may do with a table, and why.',
    examples: [
      {
        allowed: true,
        reason: "Grant 1 of the role 'customer' opens the action 'read' on the table 'orders'.",
        grant: { role: 'customer', position: 1, tables: ['orders'], actions: ['read', 'create'] },
        rows: "Records where customer_id equals 17 and state is not 'archived'.",
        readable: ['id', 'state', 'total'],
        writable: [],
        presets: [],
        record: { key: '17', exists: true, isVisible: false }
      }
    ],
    ...strict
  }
)
export type Explanation = Static<typeof ExplanationSchema>
export const ExplanationEnvelope = Envelope('TokenExplanationEnvelope', ExplanationSchema)
