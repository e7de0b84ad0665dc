import { type Static, Type } from '@sinclair/typebox'
import { documentedAs } from './documented.ts'
import { Envelope, strict } from './envelope.ts'
import { Int32 } from './numbers.ts'
import { ConditionSchema, FilterSchema } from './query.ts'
import { listQuery } from './record.ts'

const MAX_GROUP_FIELDS = 4
export const MAX_FUNCTIONS = 10
export const MAX_AGGREGATE_ROWS = 1000

const units = ['day', 'week', 'month', 'quarter', 'year'] as const
export type AggregateUnit = (typeof units)[number]

const UnitSchema = Type.Unsafe<AggregateUnit>({
  type: 'string',
  title: 'TableRecordAggregateUnit',
  enum: units,
  examples: ['month'],
  description:
    'The length of a period: `day` is shown as `2026-01-31`, `month` as `2026-01`, `quarter` as `2026-Q1`, `year` as `2026`. `week` is the week of ISO 8601, which begins on a Monday, shown as `2026-W05`.'
})

const PeriodSchema = Type.Object(
  {
    field: Type.String({
      description:
        'Name of a field with dates as ISO text (`2026-01-31`, with or without a time), or of an integer field with epoch milliseconds.',
      examples: ['created_at']
    }),
    unit: UnitSchema
  },
  {
    title: 'TableRecordAggregatePeriod',
    description:
      'Groups the records by a period in UTC, which each row has under the name of the field. null: no date, or one that cannot be read.',
    examples: [{ field: 'created_at', unit: 'month' }],
    ...strict
  }
)
export type Period = Static<typeof PeriodSchema>

const numericField = (description: string) =>
  Type.Optional(Type.String({ description: `${description} of this numeric field.`, examples: ['price'] }))
const anyField = (description: string) =>
  Type.Optional(Type.String({ description: `${description} of this field.`, examples: ['price'] }))

/** One property for each function: a union of several types would be hard to generate. */
const FunctionSchema = Type.Object(
  {
    count: Type.Optional(Type.Boolean({ description: 'true: the number of records.', examples: [true] })),
    sum: numericField('The sum of the values'),
    avg: numericField('The average of the values'),
    min: anyField('The minimum'),
    max: anyField('The maximum'),
    countDistinct: anyField('The number of different values')
  },
  {
    title: 'TableRecordAggregateFunction',
    description:
      'Has exactly one of these properties. All but `count` ignore null. Without any value, `sum`, `avg`, `min` and `max` are null.',
    examples: [{ sum: 'price' }],
    ...strict
  }
)
export type AggregateFunction = Static<typeof FunctionSchema>

const functions = {
  type: 'object',
  additionalProperties: FunctionSchema,
  description:
    'The values to compute, by the names that they get in the rows. A name has ASCII letters, digits and `_`, and at most 64 characters.',
  examples: [{ products: { count: true }, value: { sum: 'price' } }]
}

/** The service checks the number of functions: its message names the limits. */
const ComputeSchema = documentedAs(
  Type.Unsafe<Readonly<Record<string, AggregateFunction>>>(functions),
  Type.Unsafe({ ...functions, minProperties: 1, maxProperties: MAX_FUNCTIONS })
)

/** The service checks the conditions itself, because the names are those of the request. */
const HavingSchema = Type.Optional(
  documentedAs(
    Type.Unsafe<unknown>({ type: 'object', additionalProperties: true }),
    Type.Unsafe({
      type: 'object',
      description:
        'A condition for each of these names of `compute`. Only groups whose computed values meet all of them are returned.',
      additionalProperties: ConditionSchema,
      examples: [{ products: { gte: 10 } }]
    })
  )
)

export const RecordAggregateSchema = Type.Object(
  {
    filter: FilterSchema,
    q: listQuery.q,
    groupBy: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: MAX_GROUP_FIELDS,
        description: 'One row for each combination of values of these fields. Without `groupBy` and `by`: one row.',
        examples: [['color']]
      })
    ),
    by: Type.Optional(PeriodSchema),
    compute: ComputeSchema,
    having: HavingSchema,
    order: Type.Optional(
      Type.String({
        description:
          'At most 8 names of `compute`, `groupBy` or `by`, separated by commas. A leading `-` means descending. Then the rows are sorted by `groupBy` and `by`.',
        examples: ['-value']
      })
    ),
    size: Type.Optional(
      Int32({
        minimum: 1,
        maximum: MAX_AGGREGATE_ROWS,
        description: `Maximum number of rows. The default is ${MAX_AGGREGATE_ROWS}. Further rows are left out.`,
        examples: [100]
      })
    )
  },
  { title: 'TableRecordAggregate', description: 'The records to group, and the values to compute.', ...strict }
)
export type RecordAggregate = Static<typeof RecordAggregateSchema>

/** The names of the values are those of the request. */
const AggregateRowSchema = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  additionalProperties: true,
  title: 'TableRecordAggregateRow',
  description:
    'The values of the group, then the computed values, each in the format of its field in records. `avg` is a floating-point number, and a count is always a number.',
  examples: [{ color: 'red', products: 12, value: 150.5 }]
})

const AggregateRowsSchema = Type.Object(
  { rows: Type.Array(AggregateRowSchema, { description: 'One row for each group.' }) },
  { title: 'TableRecordAggregateRows', description: 'The computed values.', ...strict }
)

export const AggregateEnvelope = Envelope('TableRecordAggregateRowsEnvelope', AggregateRowsSchema)
