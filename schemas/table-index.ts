import { type Static, Type } from '@sinclair/typebox'
import { Envelope, strict, TableIdSchema } from './envelope.ts'

const nameExample = { examples: ['_rowhouse_products_category_price_1f0a9c3d'] }

const TableIndexSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the index in the database.', ...nameExample }),
    fields: Type.Array(Type.String(), {
      description: 'The fields of the index, in its order. Expressions are left out.',
      examples: [['category', 'price']]
    }),
    isUnique: Type.Boolean({
      description: 'true: no two records have the same values in these fields. null is never the same.',
      examples: [false]
    }),
    isPartial: Type.Boolean({ description: 'true: the index has only some of the records.', examples: [false] }),
    hasExpressions: Type.Boolean({ description: 'true: the index has SQL expressions.', examples: [false] }),
    isOurs: Type.Boolean({ description: 'true: created through the API, so it can be deleted.', examples: [true] })
  },
  { title: 'TableIndex', description: 'An index of a table.', ...strict }
)
export type TableIndex = Static<typeof TableIndexSchema>

export const TableIndexEnvelope = Envelope('TableIndexEnvelope', TableIndexSchema)
export const TableIndexesEnvelope = Envelope(
  'TableIndexListEnvelope',
  Type.Array(TableIndexSchema, { description: 'The indexes, by name.' })
)

export const NewTableIndexSchema = Type.Object(
  {
    fields: Type.Array(Type.String({ description: 'Name of a field.', examples: ['price'] }), {
      minItems: 1,
      maxItems: 8,
      description: 'The fields of the index, in its order. Each field at most once.',
      examples: [['category', 'price']]
    }),
    isUnique: Type.Optional(
      Type.Boolean({
        description: 'true: the index rejects records with the same values. The default is false.',
        examples: [false]
      })
    )
  },
  { title: 'TableIndexCreate', description: 'A new index.', ...strict }
)
export type NewTableIndex = Static<typeof NewTableIndexSchema>

const IndexNameSchema = Type.String({
  minLength: 1,
  maxLength: 1000,
  description: 'Name of the index.',
  ...nameExample
})

export const TableIndexParamsSchema = Type.Object({ id: TableIdSchema, name: IndexNameSchema }, strict)
