import { type Static, Type } from '@sinclair/typebox'
import { documentedAs } from './documented.ts'
import { Envelope, strict } from './envelope.ts'
import { NullableInt64 } from './numbers.ts'
import { fieldNameExample, JsonTypeSchema, type Table, TableKindSchema, TableSchema, TablesSchema } from './table.ts'
import { tableChanges } from './table-changes.ts'

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
      documentedAs(
        Type.Unsafe<string | readonly string[]>({
          type: ['string', 'array'],
          minLength: 1,
          minItems: 1,
          maxItems: 100,
          items: { type: 'string' }
        }),
        Type.Array(Type.String({ examples: ['id'] }), {
          minItems: 1,
          maxItems: 100,
          examples: [['id']],
          description:
            'For a view that is imported by `name`: the columns whose values identify each record. Also a text: the columns, separated by commas. It is checked that no value is null and that no two records have the same values.'
        })
      )
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
  labelField: null,
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
