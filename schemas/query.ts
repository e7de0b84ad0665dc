import { type SchemaOptions, type Static, type TSchema, Type } from '@sinclair/typebox'
import { documentedAs } from './documented.ts'
import { Envelope, strict } from './envelope.ts'
import { Int32, Int64 } from './numbers.ts'
import { listQuery, RecordSchema } from './record.ts'

/** Maximum bytes of the body of a query or an aggregate. */
export const MAX_QUERY_BYTES = 64 * 1024
/** Conditions of a filter. An empty part counts as one: SQLite compiles it, too. */
export const MAX_CONDITIONS = 100
/** Levels of `all`, `any` and `none`. */
export const MAX_FILTER_DEPTH = 8
/** Values of `in` and `notIn`. */
export const MAX_VALUES = 1000
/** References that `expand` adds, and that the filter and the order use. */
export const MAX_REFERENCES = 10
/** Levels of references. */
export const MAX_REFERENCE_DEPTH = 3

/** What an operator compares with. `value`: one of the field. `range`: the first and the last value. */
export type Operand = 'value' | 'range' | 'values' | 'text' | 'boolean'

interface OperatorDeclaration {
  readonly operand: Operand
  readonly description: string
  readonly example: unknown
}

/** The operators of conditions. Both documents, the checks of filters and the types of the console use this table. */
export const operators = {
  eq: { operand: 'value', description: 'The field has this value.', example: 'red' },
  ne: { operand: 'value', description: 'The field has another value, or none.', example: 'red' },
  gt: { operand: 'value', description: 'The value is greater.', example: 10 },
  gte: { operand: 'value', description: 'The value is greater or equal.', example: 10 },
  lt: { operand: 'value', description: 'The value is less.', example: 20 },
  lte: { operand: 'value', description: 'The value is less or equal.', example: 20 },
  between: {
    operand: 'range',
    description: 'The value is not less than the first of these two, and not greater than the second one.',
    example: [10, 20]
  },
  in: {
    operand: 'values',
    description: `The field has one of these values, at most ${MAX_VALUES}.`,
    example: ['red', 'blue']
  },
  notIn: {
    operand: 'values',
    description: 'The field has none of these values, or no value.',
    example: ['red', 'blue']
  },
  isNull: { operand: 'boolean', description: 'true: the field has no value. false: it has one.', example: false },
  contains: {
    operand: 'text',
    description:
      'The text contains this one. Case is ignored, here and below, of all letters with one lower and one upper form.',
    example: 'cup'
  },
  startsWith: { operand: 'text', description: 'The text starts with this one.', example: 'cup' },
  endsWith: { operand: 'text', description: 'The text ends with this one.', example: 'cup' }
} as const satisfies Record<string, OperatorDeclaration>

export type Operator = keyof typeof operators

/** A part of a filter that is a list of filters. */
export type FilterPart = 'all' | 'any' | 'none'

const operandSchemas: Record<Operand, (options: SchemaOptions) => TSchema> = {
  value: (options) => Type.Unknown(options),
  range: (options) => Type.Array(Type.Unknown(), { minItems: 2, maxItems: 2, ...options }),
  values: (options) => Type.Array(Type.Unknown(), options),
  text: (options) => Type.String(options),
  boolean: (options) => Type.Boolean(options)
}

export const ConditionSchema = Type.Object(
  Object.fromEntries(
    Object.entries(operators).map(([name, { operand, description, example }]) => [
      name,
      Type.Optional(operandSchemas[operand]({ description, examples: [example] }))
    ])
  ),
  {
    title: 'TableRecordCondition',
    description: 'A condition on one field. With several operators, all of them must hold.',
    examples: [{ gte: 10, lt: 20 }],
    ...strict
  }
)

const FILTER_TITLE = 'TableRecordFilter'
const FILTER_EXAMPLE = { where: { price: { gte: 10, lt: 20 } }, none: [{ where: { name: { contains: 'cup' } } }] }

/** A part of a filter is a filter. `$ref` is resolved only in the OpenAPI document. */
const filters = (description: string) =>
  Type.Optional(
    Type.Array(Type.Unsafe<object>({ $ref: `#/components/schemas/${FILTER_TITLE}` }), {
      description,
      examples: [[{ where: { price: { gte: 10 } } }]]
    })
  )

const DocumentedFilterSchema = Type.Object(
  {
    where: Type.Optional(
      Type.Unsafe<object>({
        type: 'object',
        description:
          'A condition for each of these fields. All of them must hold. `supplier_id.city` is a field of the record to which `supplier_id` refers.',
        additionalProperties: ConditionSchema,
        examples: [{ price: { gte: 10, lt: 20 } }]
      })
    ),
    all: filters('All of these filters match.'),
    any: filters('At least one of these filters matches.'),
    none: filters('None of these filters matches.')
  },
  {
    title: FILTER_TITLE,
    description: `The records to find. All parts must match. At most ${MAX_CONDITIONS} conditions, and ${MAX_FILTER_DEPTH} levels of \`all\`, \`any\` and \`none\`.`,
    examples: [FILTER_EXAMPLE],
    ...strict
  }
)

/** The service checks the filter itself, because its fields and values are those of the table. */
export const FilterSchema = Type.Optional(
  documentedAs(Type.Unsafe<unknown>({ type: 'object', additionalProperties: true }), DocumentedFilterSchema)
)

export const RecordQuerySchema = Type.Object(
  {
    filter: FilterSchema,
    q: listQuery.q,
    order: listQuery.order,
    fields: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 2000,
        description: 'The fields of the records. The key is always one of them. Without it: all fields.',
        examples: [['name', 'price']]
      })
    ),
    expand: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: MAX_REFERENCES,
        description: `Fields with \`references\`. Each record gets the record that the field refers to, or null, under \`expand\`. \`a.b\` also expands a field of the added record, up to a depth of ${MAX_REFERENCE_DEPTH}. \`a(x,y)\` adds only these fields and the key.`,
        examples: [['supplier_id']]
      })
    ),
    size: listQuery.size,
    cursor: Type.Optional(
      documentedAs(
        Type.Unsafe<string | null>({ type: ['string', 'null'] }),
        Type.String({
          description: '`next` of the previous response. Send the same `filter`, `q` and `order`.',
          examples: ['']
        })
      )
    ),
    total: Type.Optional(
      Type.Boolean({ description: 'true: also counts all matching records, which takes longer.', examples: [false] })
    )
  },
  { title: 'TableRecordQuery', description: 'The records to read, their order and their fields.', ...strict }
)
export type RecordQuery = Static<typeof RecordQuerySchema>

const CURSOR = 'aGn0Yk1zVfJw3v6hQm2Cq8Xr'

const QueryPageSchema = Type.Object(
  {
    rows: Type.Array(RecordSchema, { description: 'The records of the page.' }),
    next: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'The cursor of the next page. null: this page is the last one.',
      examples: [CURSOR]
    }),
    size: Int32({ description: 'Maximum number of records of the page, at most MAX_PAGE_SIZE.', examples: [20] }),
    total: Type.Optional(
      Int64({ description: 'Number of matching records on all pages. Only with `total: true`.', examples: [1] })
    )
  },
  { title: 'TableRecordQueryPage', description: 'One page of the matching records.', ...strict }
)

export const QueryPageEnvelope = Envelope('TableRecordQueryPageEnvelope', QueryPageSchema)
