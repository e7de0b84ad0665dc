import { type Static, Type } from '@sinclair/typebox'
import { CreatedAtSchema, Envelope, strict, UpdatedAtSchema } from './envelope.ts'
import { Double, Int64 } from './numbers.ts'

const jsonTypes = ['integer', 'number', 'string', 'boolean', 'object', 'array'] as const
export type JsonType = (typeof jsonTypes)[number]

export const JsonTypeSchema = Type.Unsafe<JsonType>({
  type: 'string',
  title: 'JsonType',
  enum: jsonTypes,
  examples: ['number'],
  description: 'Type of the values in JSON. `boolean` is stored as 0 or 1, `object` and `array` as JSON text.'
})

const sqliteTypes = ['INTEGER', 'TEXT', 'REAL', 'NUMERIC', 'BLOB'] as const
export type SqliteType = (typeof sqliteTypes)[number]

const SqliteTypeSchema = Type.Unsafe<SqliteType>({
  type: 'string',
  enum: sqliteTypes,
  examples: ['REAL'],
  description:
    'Affinity of the column in SQLite (https://sqlite.org/datatype3.html). The values of a BLOB are base64 text in JSON.'
})

export const HiddenSchema = Type.Boolean({
  description: 'true: tokens cannot see, search, sort by or write the field.',
  examples: [false]
})
export const ReadonlySchema = Type.Boolean({
  description: 'true: nobody can write the field through the API.',
  examples: [false]
})
export const PublishedSchema = Type.Boolean({ description: 'false: tokens get TABLE_NOT_FOUND.', examples: [true] })
export const EditableSchema = Type.Boolean({ description: 'false: tokens can only read the table.', examples: [true] })

export const fieldNameExample = { examples: ['price'] }

const CLIENT_NAME =
  'Name of the table in generated clients: unique, and safe in common languages. Given at registration; it changes only by PUT.'
const FIELD_CLIENT_NAME =
  'Name of the field in generated clients: unique in the table, and safe in common languages. Records have the key `name`.'

const defaultKinds = ['none', 'value', 'expression'] as const
export type DefaultKind = (typeof defaultKinds)[number]

const DefaultKindSchema = Type.Unsafe<DefaultKind>({
  type: 'string',
  enum: defaultKinds,
  description:
    'Meaning of `defaultValue`. `value`: the value itself. `expression`: an SQL expression, which SQLite evaluates for each new record.',
  examples: ['value']
})

const ReferenceSchema = Type.Object(
  {
    table: Type.String({ description: 'Name of the other table.', examples: ['suppliers'] }),
    field: Type.String({ description: 'Name of the field there.', examples: ['id'] })
  },
  { title: 'TableReference', description: 'The field of another table that has the same values.', ...strict }
)
export type Reference = Static<typeof ReferenceSchema>

const ForeignKeySchema = Type.Object(
  {
    fields: Type.Array(Type.String(), { description: 'The fields of this table.', examples: [['supplier_id']] }),
    table: Type.String({ description: 'Name of the other table.', examples: ['suppliers'] }),
    targetFields: Type.Array(Type.String(), {
      description: 'The fields of the other table, in the order of `fields`.',
      examples: [['id']]
    })
  },
  { title: 'TableForeignKey', description: 'A foreign key of the table.', ...strict }
)
export type ForeignKey = Static<typeof ForeignKeySchema>

const tableKinds = ['table', 'view'] as const
export type TableKind = (typeof tableKinds)[number]

export const TableKindSchema = Type.Unsafe<TableKind>({
  type: 'string',
  title: 'TableKind',
  enum: tableKinds,
  description: 'What the database has under the name. A view can only be read.',
  examples: ['table']
})

const searchIndexStates = ['off', 'building', 'ready', 'outdated'] as const
export type SearchIndexState = (typeof searchIndexStates)[number]

const SearchIndexSchema = Type.Object(
  {
    state: Type.Unsafe<SearchIndexState>({
      type: 'string',
      enum: searchIndexStates,
      description:
        '`ready`: searches use the index. `building`: the rows are being indexed. `outdated`: another program has changed the table or the index, so searches do not use it; an administrator can build it again with `searchIndex: true`.',
      examples: ['ready']
    }),
    indexed: Int64({ description: 'Rows that the last build has indexed so far.', examples: [1200] }),
    total: Int64({ description: 'Rows that the last build has to index: an estimate until it ends.', examples: [1200] })
  },
  { title: 'TableSearchIndex', description: 'The search index of a table.', ...strict }
)
export type SearchIndex = Static<typeof SearchIndexSchema>

const FieldSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the column.', ...fieldNameExample }),
    label: Type.String({ description: 'Name for display.', examples: ['Price'] }),
    sqliteType: SqliteTypeSchema,
    jsonType: JsonTypeSchema,
    nullable: Type.Boolean({ description: 'true: the value can be null.', examples: [true] }),
    defaultValue: Type.Unknown({
      description: 'Value for new records that are sent without the field. null: no default.',
      examples: [0]
    }),
    isPrimary: Type.Boolean({ description: 'true: the field is the key, or a part of it.', examples: [false] }),
    isAutoIncrement: Type.Boolean({
      description: 'true: keys of deleted records are not used again.',
      examples: [false]
    }),
    isHidden: HiddenSchema,
    isReadonly: ReadonlySchema,
    clientName: Type.String({ description: FIELD_CLIENT_NAME, examples: ['Price'] }),
    isRequired: Type.Boolean({
      description: 'true: a new record must have a value. Never true for a key that SQLite generates.',
      examples: [false]
    }),
    isNullable: Type.Boolean({
      description: 'Whether a stored value may be null. Unlike `nullable`, also right for keys.',
      examples: [true]
    }),
    isExact: Type.Boolean({
      description:
        'true: every stored value has the type of the field, and writes through the API keep it so. false: a value may have any type, because SQLite does not enforce types in tables that are not STRICT. Measured by import and refresh.',
      examples: [true]
    }),
    defaultKind: DefaultKindSchema,
    isIndexed: Type.Boolean({
      description: 'true: the field is the first one of an index of all records, or of the key.',
      examples: [false]
    }),
    isUnique: Type.Boolean({
      description: 'true: no two records have the same value, other than null.',
      examples: [false]
    }),
    references: Type.Optional(ReferenceSchema),
    allowedValues: Type.Optional(
      Type.Array(Type.Unknown(), {
        description: 'The only values, besides null, that a CHECK of the table allows.',
        examples: [['new', 'paid']]
      })
    ),
    minimum: Type.Optional(Double({ description: 'Minimum value that a CHECK of the table allows.', examples: [0] })),
    maximum: Type.Optional(Double({ description: 'Maximum value that a CHECK of the table allows.', examples: [100] })),
    minLength: Type.Optional(
      Int64({ description: 'Minimum number of characters that a CHECK of the table allows.', examples: [1] })
    ),
    maxLength: Type.Optional(
      Int64({ description: 'Maximum number of characters that a CHECK of the table allows.', examples: [40] })
    )
  },
  { title: 'TableField', description: 'A field of a table: a column of SQLite.', ...strict }
)
export type Field = Static<typeof FieldSchema>

export const LabelFieldSchema = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'Name of the field whose values name the records, such as in a list to choose from. null: none.',
  examples: ['name']
})

const NamingTokenSchema = Type.Object(
  {
    id: Int64({ description: 'Id of the token.', examples: [4] }),
    name: Type.String({ description: 'Name of the token.', examples: ['Web shop'] })
  },
  { title: 'TableNamingToken', description: 'A token whose permissions name the table.', ...strict }
)
export type NamingToken = Static<typeof NamingTokenSchema>

export const TableSchema = Type.Object(
  {
    id: Int64({ description: 'Id of the table.', examples: [3] }),
    name: Type.String({ description: 'Name of the table in the database.', examples: ['products'] }),
    label: Type.String({ description: 'Name for display.', examples: ['Products'] }),
    primaryKey: Type.String({
      description:
        'Name of the key field. The names of a composite key are separated by commas. Empty for a view without a key.',
      examples: ['id']
    }),
    fields: Type.Array(FieldSchema, { description: 'The fields, in the order of the columns.' }),
    isPublished: PublishedSchema,
    isEditable: EditableSchema,
    note: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'A remark of an administrator. null: none.',
      examples: ['Prices include tax.']
    }),
    createdAt: CreatedAtSchema,
    updatedAt: UpdatedAtSchema,
    clientName: Type.String({ description: CLIENT_NAME, examples: ['Products'] }),
    kind: TableKindSchema,
    foreignKeys: Type.Array(ForeignKeySchema, { description: 'The foreign keys, in the order of their declaration.' }),
    warnings: Type.Array(Type.String(), {
      description:
        'Names of fields that generators of clients may not handle. For administrators also why fields of a view are hidden, and why a table of a cluster can only be read. After a table was created or adopted, also the roles and tokens that name it already.',
      examples: [[]]
    }),
    searchIndex: SearchIndexSchema,
    labelField: LabelFieldSchema,
    tokens: Type.Optional(
      Type.Array(NamingTokenSchema, {
        description: 'Only in the response to a rename: the tokens whose permissions named the table by its old name.'
      })
    )
  },
  { title: 'Table', description: 'A registered table.', ...strict }
)
export type Table = Static<typeof TableSchema>

export const TablesSchema = Type.Array(TableSchema, { description: 'The tables.' })

export const TableEnvelope = Envelope('TableEnvelope', TableSchema)
export const TablesEnvelope = Envelope('TableListEnvelope', TablesSchema)
