import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { documentedAs } from './documented.ts'
import { CreatedAtSchema, Envelope, strict, TableIdSchema, UpdatedAtSchema } from './envelope.ts'
import { Double, Int64, NullableInt64 } from './numbers.ts'
import { CLIENT_NAME_PATTERN, NAME_PATTERN } from './patterns.ts'

const jsonTypes = ['integer', 'number', 'string', 'boolean', 'object', 'array'] as const
export type JsonType = (typeof jsonTypes)[number]

const JsonTypeSchema = Type.Unsafe<JsonType>({
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

const declarableTypes: readonly SqliteType[] = ['INTEGER', 'TEXT', 'REAL', 'BLOB']

const DeclaredTypeSchema = Type.Unsafe<SqliteType>({
  type: 'string',
  enum: declarableTypes,
  examples: ['REAL'],
  description:
    'Stored type. Not needed, except for bytes: BLOB with the `jsonType` string, and values as base64 text. The others follow from `jsonType`: INTEGER for integer and boolean, REAL for number, TEXT for string, object and array.'
})

const HiddenSchema = Type.Boolean({
  description: 'true: tokens cannot see, search, sort by or write the field.',
  examples: [false]
})
const ReadonlySchema = Type.Boolean({
  description: 'true: nobody can write the field through the API.',
  examples: [false]
})
const PublishedSchema = Type.Boolean({ description: 'false: tokens get TABLE_NOT_FOUND.', examples: [true] })
const EditableSchema = Type.Boolean({ description: 'false: tokens can only read the table.', examples: [true] })

const fieldNameExample = { examples: ['price'] }

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

const onDeleteActions = ['cascade', 'restrict', 'setNull', 'noAction'] as const
export type OnDelete = (typeof onDeleteActions)[number]

const NewReferenceSchema = Type.Object(
  {
    table: Type.String({
      minLength: 1,
      maxLength: 1000,
      description: 'Name of a registered table.',
      examples: ['suppliers']
    }),
    field: Type.String({
      minLength: 1,
      maxLength: 1000,
      description: 'Name of its field: the key, if it is a single field, or a unique field of the same stored type.',
      examples: ['id']
    }),
    onDelete: Type.Optional(
      Type.Unsafe<OnDelete>({
        type: 'string',
        enum: onDeleteActions,
        description:
          'What the delete of a record there does to the records that refer to it. `cascade` deletes them, `setNull` sets the field to null. `restrict` and `noAction`, the default, refuse the delete.',
        examples: ['cascade']
      })
    )
  },
  {
    title: 'TableReferenceCreate',
    description: 'A new foreign key: the field has only values of the other field.',
    ...strict
  }
)
export type NewReference = Static<typeof NewReferenceSchema>

/** Larger integers are not exact as a double. */
const boundSchema = (description: string, example: number) =>
  Double({
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    description,
    examples: [example]
  })

const lengthSchema = (description: string, example: number) =>
  Int64({ minimum: 0, maximum: 1_000_000_000, description, examples: [example] })

const FieldCheckSchema = Type.Object(
  {
    minimum: Type.Optional(boundSchema('Minimum value. For the types integer and number.', 0)),
    maximum: Type.Optional(boundSchema('Maximum value. For the types integer and number.', 100)),
    minLength: Type.Optional(lengthSchema('Minimum number of characters. For the type string.', 1)),
    maxLength: Type.Optional(lengthSchema('Maximum number of characters. For the type string.', 40)),
    enum: Type.Optional(
      Type.Array(Type.Unknown(), {
        minItems: 1,
        maxItems: 200,
        description: 'The only values, besides null. For the types integer, number and string.',
        examples: [['new', 'paid']]
      })
    )
  },
  {
    title: 'TableFieldCheck',
    description: 'Rules for the values of a field, which become CHECK constraints. null passes each of them.',
    minProperties: 1,
    ...strict
  }
)
export type FieldCheck = Static<typeof FieldCheckSchema>

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

const TableKindSchema = Type.Unsafe<TableKind>({
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
        'Names of fields that generators of clients may not handle, and for administrators why fields of a view are hidden. One sentence each.',
      examples: [[]]
    }),
    searchIndex: SearchIndexSchema,
    tokens: Type.Optional(
      Type.Array(NamingTokenSchema, {
        description: 'Only in the response to a rename: the tokens whose permissions named the table by its old name.'
      })
    )
  },
  { title: 'Table', description: 'A registered table.', ...strict }
)
export type Table = Static<typeof TableSchema>

const TablesSchema = Type.Array(TableSchema, { description: 'The tables.' })

export const TableEnvelope = Envelope('TableEnvelope', TableSchema)
export const TablesEnvelope = Envelope('TableListEnvelope', TablesSchema)

/** SQLite's json_object takes 500 pairs, and Rowhouse may add a key and two timestamps. */
export const MAX_DECLARED_FIELDS = 490
const labelSchema = (example: string) =>
  Type.String({ maxLength: 200, description: 'Name for display.', examples: [example] })
const TableLabelSchema = labelSchema('Products')
const FieldLabelSchema = labelSchema('Price')
const NoteSchema = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 4000,
  description: 'A remark of an administrator. null: none.',
  examples: ['Prices include tax.']
})

const NAME_RULE = 'Starts with a letter, has only ASCII letters, digits and `_`, and at most 63 characters.'

export const NewFieldSchema = Type.Object(
  {
    name: Type.String({ pattern: NAME_PATTERN, description: NAME_RULE, ...fieldNameExample }),
    jsonType: JsonTypeSchema,
    sqliteType: Type.Optional(DeclaredTypeSchema),
    isPrimary: Type.Optional(
      Type.Boolean({
        description:
          'true: the field is the key, or a part of it: several such fields are a composite key, in their order. Without any, the key is an integer field `id`.',
        examples: [false]
      })
    ),
    isAutoIncrement: Type.Optional(
      Type.Boolean({
        description: 'true: keys of deleted records are not used again. For a key of one integer field only.',
        examples: [false]
      })
    ),
    label: Type.Optional(FieldLabelSchema),
    nullable: Type.Optional(
      Type.Boolean({ description: 'true: the value can be null. The default is true.', examples: [false] })
    ),
    defaultValue: Type.Optional(
      Type.Unknown({ description: 'Value for new records that are sent without the field.', examples: [0] })
    ),
    isUnique: Type.Optional(
      Type.Boolean({
        description: 'true: adds a unique index, so no two records have the same value, other than null.',
        examples: [false]
      })
    ),
    isIndexed: Type.Optional(
      Type.Boolean({ description: 'true: adds an index, which sorts and filters by the field use.', examples: [true] })
    ),
    references: Type.Optional(NewReferenceSchema),
    check: Type.Optional(FieldCheckSchema),
    isHidden: Type.Optional(HiddenSchema),
    isReadonly: Type.Optional(ReadonlySchema)
  },
  { title: 'AdminTableFieldCreate', description: 'A new field, from an administrator.', ...strict }
)
export type NewField = Static<typeof NewFieldSchema>

/** Without the flags that restrict tokens. */
const TokenNewFieldSchema = Type.Omit(NewFieldSchema, ['isHidden', 'isReadonly'], {
  title: 'TableFieldCreate',
  description: 'A new field.',
  ...strict
})

const newFields = <T extends TSchema>(field: T) =>
  Type.Array(field, { minItems: 1, maxItems: MAX_DECLARED_FIELDS, description: 'The fields, in order.' })

/** The names of a new table. */
export const newNames = {
  name: Type.String({ pattern: NAME_PATTERN, description: NAME_RULE, examples: ['products'] }),
  label: TableLabelSchema
}

const newTable = {
  ...newNames,
  fields: newFields(NewFieldSchema),
  note: Type.Optional(NoteSchema),
  autoTimestamps: Type.Optional(
    Type.Boolean({
      description: 'true: adds `created_at` and `updated_at`, in epoch milliseconds. Rowhouse sets them.',
      examples: [true]
    })
  )
}

export const NewTableSchema = Type.Object(newTable, {
  title: 'AdminTableCreate',
  description: 'A new table, from an administrator.',
  ...strict
})
export type NewTable = Static<typeof NewTableSchema>

export const TokenNewTableSchema = Type.Object(
  { ...newTable, fields: newFields(TokenNewFieldSchema) },
  { title: 'TableCreate', description: 'A new table.', ...strict }
)

const ClientNameSchema = Type.String({
  pattern: CLIENT_NAME_PATTERN,
  description: 'Name in generated clients.',
  examples: ['Products']
})

const FieldChangesSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the field to change.', ...fieldNameExample }),
    label: Type.Optional(FieldLabelSchema),
    isHidden: Type.Optional(HiddenSchema),
    isReadonly: Type.Optional(ReadonlySchema),
    clientName: Type.Optional(ClientNameSchema)
  },
  { title: 'TableFieldUpdate', description: 'The properties of one field to change.', ...strict }
)
export type FieldChanges = Static<typeof FieldChangesSchema>

const tableChanges = {
  label: Type.Optional(TableLabelSchema),
  note: Type.Optional(NoteSchema),
  isPublished: Type.Optional(PublishedSchema),
  isEditable: Type.Optional(EditableSchema),
  fields: Type.Optional(
    Type.Array(FieldChangesSchema, { minItems: 1, maxItems: 2000, description: 'The fields to change.' })
  )
}

export const TableChangesSchema = Type.Object(
  {
    ...tableChanges,
    clientName: Type.Optional(ClientNameSchema),
    name: Type.Optional(
      Type.String({
        pattern: NAME_PATTERN,
        description: `New name of the table in the database. ${NAME_RULE} Foreign keys, indexes, triggers and views follow.`,
        examples: ['products']
      })
    ),
    updateTokens: Type.Optional(
      Type.Boolean({
        description:
          'With `name`. true: the permissions of tokens get the new name, too. Otherwise tokens that name the old one lose the table.',
        examples: [true]
      })
    ),
    searchIndex: Type.Optional(
      Type.Boolean({
        description:
          'true: builds an index of the texts of the table, which searches use. It adds triggers to the table. false: removes it.',
        examples: [true]
      })
    )
  },
  { title: 'TableUpdate', description: 'The properties to change.', minProperties: 1, ...strict }
)
export type TableChanges = Static<typeof TableChangesSchema>

const storedName = { minLength: 1, maxLength: 1000, examples: ['orders'] }
const StoredNameSchema = Type.String({ ...storedName, description: 'Name of a table or view in the database, or `*`.' })

/** The service checks that there is one of `name` and `names`: generators do not understand such a rule in a schema. */
export const TableImportSchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({ ...storedName, description: 'The table or view to import. Not together with `names`.' })
    ),
    names: Type.Optional(
      Type.Array(StoredNameSchema, {
        minItems: 1,
        maxItems: 1000,
        examples: [['*']],
        description:
          'The tables and views to import. `["*"]` stands for all that are not registered and can be imported. Not together with `name`.'
      })
    ),
    ...tableChanges,
    primaryKey: Type.Optional(
      Type.Array(Type.String({ examples: ['id'] }), {
        minItems: 1,
        maxItems: 100,
        examples: [['id']],
        description:
          'For a view that is imported by `name`: the columns whose values identify each record. It is checked that no value is null and that no two records have the same values.'
      })
    )
  },
  {
    title: 'TableImport',
    ...strict,
    description: 'Needs `name` or `names`. The other properties are set for each of the tables.',
    examples: [{ names: ['orders', 'customers'], isEditable: false }]
  }
)
export type TableImport = Static<typeof TableImportSchema>

const ImportableFieldSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the column.', ...fieldNameExample }),
    jsonType: JsonTypeSchema,
    isPrimary: Type.Boolean({
      description: 'true: the field is the key, or a part of it, so it cannot be hidden.',
      examples: [false]
    })
  },
  { title: 'ImportableTableField', description: 'A field that an import can hide.', ...strict }
)

const ImportableTableSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the table or view.', examples: ['orders'] }),
    rows: NullableInt64({
      description:
        'Number of rows: exact below 10,000. Beyond that an estimate, which assumes that the rowids are as dense in the whole table as in its first 10,000 rows. A table without a rowid has at most 10,000 here. null for views and virtual tables, whose rows are not counted.',
      examples: [1200]
    }),
    isImportable: Type.Boolean({ description: 'true: the table can be imported.', examples: [true] }),
    reason: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Why the table or view cannot be imported. null if it can.',
      examples: [null]
    }),
    kind: TableKindSchema,
    fields: Type.Array(ImportableFieldSchema, {
      description: 'The fields, in the order of the columns. Empty if the table cannot be imported.'
    })
  },
  { title: 'ImportableTable', description: 'A table or view that is not registered.', ...strict }
)
export type ImportableTable = Static<typeof ImportableTableSchema>

export const ImportablesEnvelope = Envelope(
  'ImportableTableListEnvelope',
  Type.Array(ImportableTableSchema, { description: 'The tables and views, by name.' })
)

const IMPORTED = 'The `Table`, for a request with `name`. The list of them, for a request with `names`.'

const importedExample = {
  id: 3,
  name: 'orders',
  label: 'orders',
  primaryKey: 'id',
  fields: [],
  isPublished: true,
  isEditable: true,
  note: null,
  createdAt: 1767225600000,
  updatedAt: 1767225600000,
  clientName: 'Orders',
  kind: 'table',
  foreignKeys: [],
  searchIndex: { state: 'off', indexed: 0, total: 0 },
  warnings: []
} satisfies Table

/** With a union in the document, clients of openapi-generator for TypeScript and Go do not compile. */
export const ImportedEnvelope = Envelope(
  'ImportedTableEnvelope',
  documentedAs(
    Type.Union([TableSchema, TablesSchema]),
    Type.Unsafe({ description: IMPORTED, examples: [importedExample] })
  )
)

export const FieldAdditionSchema = Type.Object(
  { field: NewFieldSchema },
  { title: 'AdminTableFieldAddition', description: 'The field to add, from an administrator.', ...strict }
)

export const TokenFieldAdditionSchema = Type.Object(
  { field: TokenNewFieldSchema },
  { title: 'TableFieldAddition', description: 'The field to add.', ...strict }
)

export const UnregisterQuerySchema = Type.Object(
  {
    confirm: Type.Optional(Type.Boolean({ description: 'Must be true.', examples: [true] })),
    drop: Type.Optional(
      Type.Boolean({
        description:
          'true: also deletes the table and its rows from the database. Without it, they stay in the database.',
        examples: [false]
      })
    )
  },
  strict
)

export const FieldParamsSchema = Type.Object(
  {
    id: TableIdSchema,
    name: Type.String({ minLength: 1, maxLength: 1000, description: 'Name of the field.', ...fieldNameExample })
  },
  strict
)

export const FieldRedefinitionSchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({ pattern: NAME_PATTERN, description: `New name. ${NAME_RULE}`, ...fieldNameExample })
    ),
    label: Type.Optional(FieldLabelSchema),
    jsonType: Type.Optional(JsonTypeSchema),
    nullable: Type.Optional(Type.Boolean({ description: 'false: no value can be null.', examples: [false] })),
    defaultValue: Type.Optional(
      Type.Unknown({ description: 'Value for new records that are sent without the field. null: none.', examples: [0] })
    )
  },
  {
    title: 'AdminTableFieldUpdate',
    description: 'The properties of the field to change. Stored values must fit them.',
    minProperties: 1,
    ...strict
  }
)
export type FieldRedefinition = Static<typeof FieldRedefinitionSchema>

export const FieldRemovalQuerySchema = Type.Object(
  { confirm: Type.Optional(Type.Boolean({ description: 'Must be true.', examples: [true] })) },
  strict
)
