import { type Static, Type } from '@sinclair/typebox'
import { documentedAs } from './documented.ts'
import { Envelope, strict } from './envelope.ts'
import { Double, Int32 } from './numbers.ts'
import { IF_MATCH_PATTERN, INTEGER_PATTERN, MAX_IF_MATCH_TAGS } from './patterns.ts'
import { FilterSchema } from './query.ts'
import { BODY_KEY_FORMS, BodyKeySchema, RecordBodySchema } from './record.ts'

/** Operations of one batch. */
export const MAX_OPERATIONS = 1000
/** Maximum number of keys, objects and arrays of the body of a batch: 200 for each operation. */
export const MAX_BATCH_PARTS = 200_000
/** Maximum of `maxAffected`. */
const MAX_AFFECTED = 10_000

const OPERATION_NAMES = ['create', 'update', 'upsert', 'delete', 'incr'] as const

/** Documented without the values: an enum that has values of another one gets other names in some clients. */
const OperationNameSchema = documentedAs(
  Type.Unsafe<(typeof OPERATION_NAMES)[number]>({ type: 'string', enum: [...OPERATION_NAMES] }),
  Type.String({
    description:
      '`create` and `upsert` need `values`. `update` needs `values`, and `pk` or `filter`. `delete` needs `pk` or `filter`. `incr` needs `pk` and `field`.',
    examples: ['incr']
  })
)
export type OperationName = Static<typeof OperationNameSchema>

const ConflictActionSchema = Type.Unsafe<'error' | 'ignore'>({
  type: 'string',
  enum: ['error', 'ignore'],
  description:
    'Only for `create`. `ignore`: if a unique value is taken, nothing is created, and the result is `{"ignored": true}`. The default is `error`.',
  examples: ['ignore']
})

/** The service checks which members belong to which operation: a union would stop most generators. */
export const BatchOperationSchema = Type.Object(
  {
    op: OperationNameSchema,
    table: Type.String({ description: 'Name of the table, ignoring case.', examples: ['products'] }),
    pk: Type.Optional(
      Type.Unknown({
        ...BodyKeySchema,
        description: `The primary key, as text. ${BODY_KEY_FORMS} \`{"$result": 0, "field": "id"}\` is a field of the record that an earlier \`create\` or \`upsert\` of the batch returns.`,
        examples: ['7']
      })
    ),
    values: Type.Optional(
      documentedAs(
        RecordBodySchema,
        Type.Unsafe<object>({ $ref: `#/components/schemas/${String(RecordBodySchema.title)}` })
      )
    ),
    on: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description:
          'Only for `upsert`: the fields that identify the record, which are the primary key or those of a unique index. The default is the primary key.',
        examples: [['sku']]
      })
    ),
    field: Type.Optional(Type.String({ description: 'Only for `incr`: the numeric field.', examples: ['stock'] })),
    count: Type.Optional(
      documentedAs(
        Type.Unsafe<number | string>({ type: ['number', 'string'], pattern: INTEGER_PATTERN }),
        Double({ description: 'Only for `incr`: the number to add. The default is 1.', examples: [-1] })
      )
    ),
    filter: FilterSchema,
    maxAffected: Type.Optional(
      Int32({
        minimum: 1,
        maximum: MAX_AFFECTED,
        description: 'Needed with `filter`: if it matches more records, the batch fails.',
        examples: [100]
      })
    ),
    ifMatch: Type.Optional(
      documentedAs(
        Type.String({ pattern: IF_MATCH_PATTERN }),
        Type.String({
          description: `Only with \`pk\`: the \`ETag\` of the record, with its quotes, or up to ${MAX_IF_MATCH_TAGS}, as in the header If-Match. With another tag, the batch fails.`,
          examples: ['"sMPYLLsQHLbLbZGfPGUWwA"']
        })
      )
    ),
    onConflict: Type.Optional(ConflictActionSchema)
  },
  {
    title: 'TableOperation',
    description:
      'One change. A value can be `{"$result": 0, "field": "id"}`, as in `pk`, if both fields have the same type.',
    examples: [{ op: 'incr', table: 'products', pk: '7', field: 'stock', count: -1 }],
    ...strict
  }
)
export type BatchOperation = Static<typeof BatchOperationSchema>

export const BatchSchema = Type.Object(
  {
    operations: Type.Array(BatchOperationSchema, {
      description: `At most ${MAX_OPERATIONS} changes, which run in their order.`,
      examples: [[{ op: 'incr', table: 'products', pk: '7', field: 'stock', count: -1 }]]
    })
  },
  { title: 'TableBatch', description: 'Changes that are stored all together or not at all.', ...strict }
)

const BatchResultSchema = Type.Unsafe<object>({
  type: 'object',
  additionalProperties: true,
  title: 'TableOperationResult',
  description:
    'For `create` the record, for `upsert` `{"created", "record"}`, for all others `{"success": true}`, with `affected` if the operation has a filter.',
  examples: [{ success: true }]
})

export const BatchEnvelope = Envelope(
  'TableBatchEnvelope',
  Type.Object(
    { results: Type.Array(BatchResultSchema, { description: 'One for each operation, in their order.' }) },
    { title: 'TableBatchResults', description: 'The results of a batch.', ...strict }
  )
)
