import { type Static, Type } from '@sinclair/typebox'
import { strict, TimestampSchema } from './envelope.ts'
import { CLIENT_NAME_PATTERN, NAME_PATTERN } from './patterns.ts'

const jsonTypes = ['integer', 'number', 'string', 'boolean', 'object', 'array'] as const
export type JsonType = (typeof jsonTypes)[number]

const JsonTypeSchema = Type.Unsafe<JsonType>({
  type: 'string',
  enum: jsonTypes,
  description: 'Type of the values in JSON. `boolean` is stored as 0 or 1, `object` and `array` as JSON text.'
})

const sqliteTypes = ['INTEGER', 'TEXT', 'REAL', 'NUMERIC', 'BLOB'] as const
export type SqliteType = (typeof sqliteTypes)[number]

const SqliteTypeSchema = Type.Unsafe<SqliteType>({
  type: 'string',
  enum: sqliteTypes,
  description:
    'Affinity of the column in SQLite (https://sqlite.org/datatype3.html). The values of a BLOB are base64 text in JSON.'
})

const declarableTypes: readonly SqliteType[] = ['INTEGER', 'TEXT', 'REAL', 'BLOB']

const DeclaredTypeSchema = Type.Unsafe<SqliteType>({
  type: 'string',
  enum: declarableTypes,
  description:
    'Stored type. Not needed, except for bytes: BLOB with the `jsonType` string, and values as base64 text. The others follow from `jsonType`: INTEGER for integer and boolean, REAL for number, TEXT for string, object and array.'
})

const HIDDEN = 'true: tokens cannot see, search, sort by or write the field.'
const READ_ONLY = 'true: nobody can write the field through the API.'

const CLIENT_NAME =
  'Name of the table in generated clients: unique, and safe in common languages. Given at registration; it changes only by PUT.'
const FIELD_CLIENT_NAME =
  'Name of the field in generated clients: unique in the table, and safe in common languages. Records have the key `name`.'

const defaultKinds = ['none', 'value', 'expression'] as const
export type DefaultKind = (typeof defaultKinds)[number]

const FieldSchema = Type.Object(
  {
    name: Type.String(),
    label: Type.String(),
    sqliteType: SqliteTypeSchema,
    jsonType: JsonTypeSchema,
    nullable: Type.Boolean(),
    defaultValue: Type.Unknown({
      description: 'Value for new records that are sent without the field. null: no default.'
    }),
    isPrimary: Type.Boolean(),
    isAutoIncrement: Type.Boolean(),
    isHidden: Type.Boolean({ description: HIDDEN }),
    isReadonly: Type.Boolean({ description: READ_ONLY }),
    clientName: Type.String({ description: FIELD_CLIENT_NAME }),
    isRequired: Type.Boolean({
      description: 'true: a new record must have a value. Never true for a key that SQLite generates.'
    }),
    isNullable: Type.Boolean({
      description: 'Whether a stored value may be null. Unlike `nullable`, also right for keys.'
    }),
    isExact: Type.Boolean({
      description:
        'true: every stored value has the type of the field, and writes through the API keep it so. false: a value may have any type, because SQLite does not enforce types in tables that are not STRICT. Measured by import and refresh.'
    }),
    defaultKind: Type.Unsafe<DefaultKind>({
      type: 'string',
      enum: defaultKinds,
      description:
        'Meaning of `defaultValue`. `value`: the value itself. `expression`: an SQL expression, which SQLite evaluates for each new record.'
    }),
    allowedValues: Type.Optional(
      Type.Array(Type.Unknown(), { description: 'The only values, besides null, that a CHECK of the table allows.' })
    ),
    minimum: Type.Optional(Type.Number({ description: 'Smallest number that a CHECK of the table allows.' })),
    maximum: Type.Optional(Type.Number({ description: 'Largest number that a CHECK of the table allows.' })),
    minLength: Type.Optional(
      Type.Integer({ description: 'Smallest number of characters that a CHECK of the table allows.' })
    ),
    maxLength: Type.Optional(
      Type.Integer({ description: 'Largest number of characters that a CHECK of the table allows.' })
    )
  },
  { title: 'Field', ...strict }
)
export type Field = Static<typeof FieldSchema>

/** Without an `$id`: fast-json-stringify rejects a union that contains the same one twice. */
export const TableSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    label: Type.String(),
    primaryKey: Type.String({
      description: 'Name of the key field. The names of a composite key are separated by commas.'
    }),
    fields: Type.Array(FieldSchema),
    isPublished: Type.Boolean({ description: 'false: tokens get TABLE_NOT_FOUND.' }),
    isEditable: Type.Boolean({ description: 'false: tokens can only read the table.' }),
    note: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    createdAt: TimestampSchema,
    updatedAt: TimestampSchema,
    clientName: Type.String({ description: CLIENT_NAME }),
    warnings: Type.Array(Type.String(), {
      description: 'Names of fields that generators of clients may not handle, one sentence each.'
    })
  },
  { title: 'Table', ...strict }
)
export type Table = Static<typeof TableSchema>

/** SQLite's json_object takes 500 pairs, and Rowhouse may add a key and two timestamps. */
const MAX_DECLARED_FIELDS = 490
const LabelSchema = Type.String({ maxLength: 200 })
const NoteSchema = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 4000 })

const NewFieldSchema = Type.Object(
  {
    name: Type.String({ pattern: NAME_PATTERN }),
    jsonType: JsonTypeSchema,
    sqliteType: Type.Optional(DeclaredTypeSchema),
    isPrimary: Type.Optional(
      Type.Boolean({ description: 'true: the field is the key. Without any, the key is an integer field `id`.' })
    ),
    isAutoIncrement: Type.Optional(
      Type.Boolean({ description: 'true: keys of deleted records are not used again. For integer keys only.' })
    ),
    label: Type.Optional(LabelSchema),
    nullable: Type.Optional(Type.Boolean({ description: 'The default is true.' })),
    defaultValue: Type.Optional(
      Type.Unknown({ description: 'Value for new records that are sent without the field.' })
    ),
    isHidden: Type.Optional(Type.Boolean({ description: HIDDEN })),
    isReadonly: Type.Optional(Type.Boolean({ description: READ_ONLY }))
  },
  { $id: 'NewField', title: 'NewField', ...strict }
)
export type NewField = Static<typeof NewFieldSchema>

/** Without the flags that restrict tokens. */
const TokenNewFieldSchema = Type.Omit(NewFieldSchema, ['isHidden', 'isReadonly'], {
  $id: 'TokenNewField',
  title: 'TokenNewField',
  ...strict
})

const newTable = {
  name: Type.String({ pattern: NAME_PATTERN }),
  label: LabelSchema,
  fields: Type.Array(NewFieldSchema, { minItems: 1, maxItems: MAX_DECLARED_FIELDS }),
  note: Type.Optional(NoteSchema),
  autoTimestamps: Type.Optional(
    Type.Boolean({
      description: 'true: adds `created_at` and `updated_at`, in epoch milliseconds. Rowhouse sets them.'
    })
  )
}

export const NewTableSchema = Type.Object(newTable, { $id: 'NewTable', title: 'NewTable', ...strict })
export type NewTable = Static<typeof NewTableSchema>

export const TokenNewTableSchema = Type.Object(
  { ...newTable, fields: Type.Array(TokenNewFieldSchema, { minItems: 1, maxItems: MAX_DECLARED_FIELDS }) },
  { $id: 'TokenNewTable', title: 'TokenNewTable', ...strict }
)

const ClientNameSchema = Type.String({ pattern: CLIENT_NAME_PATTERN })

const FieldChangesSchema = Type.Object(
  {
    name: Type.String(),
    label: Type.Optional(LabelSchema),
    isHidden: Type.Optional(Type.Boolean()),
    isReadonly: Type.Optional(Type.Boolean()),
    clientName: Type.Optional(ClientNameSchema)
  },
  { $id: 'FieldChanges', title: 'FieldChanges', ...strict }
)
export type FieldChanges = Static<typeof FieldChangesSchema>

const tableChanges = {
  label: Type.Optional(LabelSchema),
  note: Type.Optional(NoteSchema),
  isPublished: Type.Optional(Type.Boolean()),
  isEditable: Type.Optional(Type.Boolean()),
  fields: Type.Optional(Type.Array(FieldChangesSchema, { minItems: 1, maxItems: 2000 }))
}

export const TableChangesSchema = Type.Object(
  { ...tableChanges, clientName: Type.Optional(ClientNameSchema) },
  { $id: 'TableChanges', title: 'TableChanges', minProperties: 1, ...strict }
)
export type TableChanges = Static<typeof TableChangesSchema>

const StoredNameSchema = Type.String({ minLength: 1, maxLength: 1000 })

/** The service checks that there is one of `name` and `names`: generators do not understand such a rule in a schema. */
export const TableImportSchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1000, description: 'The table to import. Not together with `names`.' })
    ),
    names: Type.Optional(
      Type.Array(StoredNameSchema, {
        minItems: 1,
        maxItems: 1000,
        description:
          'The tables to import. `["*"]` stands for all that are not registered and can be imported. Not together with `name`.'
      })
    ),
    ...tableChanges
  },
  {
    $id: 'TableImport',
    title: 'TableImport',
    ...strict,
    description: 'Needs `name` or `names`. The other properties are set for each of the tables.'
  }
)
export type TableImport = Static<typeof TableImportSchema>

export const ImportableTableSchema = Type.Object(
  {
    name: Type.String(),
    rows: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description:
        'Number of rows: exact below 10,000. Beyond that an estimate, which assumes that the rowids are as dense in the whole table as in its first 10,000 rows. A table without a rowid has at most 10,000 here. null for views and virtual tables, whose rows are not counted.'
    }),
    isImportable: Type.Boolean(),
    reason: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Why the table or view cannot be imported. null if it can.'
    })
  },
  { $id: 'ImportableTable', title: 'ImportableTable', ...strict }
)
export type ImportableTable = Static<typeof ImportableTableSchema>

export const ImportedSchema = Type.Union([TableSchema, Type.Array(TableSchema)], {
  description: 'The table, for a request with `name`. The list of tables, for a request with `names`.'
})

export const FieldAdditionSchema = Type.Object(
  { field: NewFieldSchema },
  { $id: 'FieldAddition', title: 'FieldAddition', ...strict }
)

export const TokenFieldAdditionSchema = Type.Object(
  { field: TokenNewFieldSchema },
  { $id: 'TokenFieldAddition', title: 'TokenFieldAddition', ...strict }
)

export const UnregisterQuerySchema = Type.Object(
  {
    confirm: Type.Optional(Type.Boolean({ description: 'Must be true. The table and its rows stay in the database.' }))
  },
  strict
)
