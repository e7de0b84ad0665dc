import { type Static, Type } from '@sinclair/typebox'
import { strict, TimestampSchema } from './envelope.ts'
import { NAME_PATTERN } from './patterns.ts'

const jsonTypes = ['integer', 'number', 'string', 'boolean', 'object', 'array'] as const
export type JsonType = (typeof jsonTypes)[number]

const JsonTypeSchema = Type.Unsafe<JsonType>({
  type: 'string',
  enum: jsonTypes,
  description: 'The type of the values in JSON. boolean is stored as 0 or 1, object and array as JSON text.'
})

const sqliteTypes = ['INTEGER', 'TEXT', 'REAL', 'NUMERIC', 'BLOB'] as const
export type SqliteType = (typeof sqliteTypes)[number]

const SqliteTypeSchema = Type.Unsafe<SqliteType>({
  type: 'string',
  enum: sqliteTypes,
  description: 'The column’s affinity by SQLite’s rules (https://sqlite.org/datatype3.html).'
})

const FieldSchema = Type.Object(
  {
    name: Type.String(),
    label: Type.String(),
    sqliteType: SqliteTypeSchema,
    jsonType: JsonTypeSchema,
    nullable: Type.Boolean(),
    defaultValue: Type.Unknown({ description: 'The value of a new record that is sent without one, or null.' }),
    isPrimary: Type.Boolean(),
    isAutoIncrement: Type.Boolean(),
    isHidden: Type.Boolean({ description: 'Tokens never see the field.' }),
    isReadonly: Type.Boolean({ description: 'Refused in writes.' })
  },
  { $id: 'Field', title: 'Field', ...strict }
)
export type Field = Static<typeof FieldSchema>

export const TableSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    label: Type.String(),
    primaryKey: Type.String({ description: 'The key field; the fields of a composite key are joined by commas.' }),
    fields: Type.Array(FieldSchema),
    isPublished: Type.Boolean({ description: 'false: tokens get TABLE_NOT_FOUND.' }),
    isEditable: Type.Boolean({ description: 'false: tokens may only read it.' }),
    note: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    createdAt: TimestampSchema,
    updatedAt: TimestampSchema
  },
  { $id: 'Table', title: 'Table', ...strict }
)
export type Table = Static<typeof TableSchema>

/** Fields of a new table. SQLite's json_object takes 500 pairs, and a key and timestamps may be added. */
const MAX_DECLARED_FIELDS = 490
const LabelSchema = Type.String({ maxLength: 200 })
const NoteSchema = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 4000 })

const NewFieldSchema = Type.Object(
  {
    name: Type.String({ pattern: NAME_PATTERN }),
    jsonType: JsonTypeSchema,
    sqliteType: Type.Optional(SqliteTypeSchema),
    isPrimary: Type.Optional(Type.Boolean()),
    isAutoIncrement: Type.Optional(Type.Boolean()),
    label: Type.Optional(LabelSchema),
    nullable: Type.Optional(Type.Boolean()),
    defaultValue: Type.Optional(Type.Unknown()),
    isHidden: Type.Optional(Type.Boolean()),
    isReadonly: Type.Optional(Type.Boolean())
  },
  { $id: 'NewField', title: 'NewField', ...strict }
)
export type NewField = Static<typeof NewFieldSchema>

/** A token may not set the flags that restrict tokens. */
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
    Type.Boolean({ description: 'Adds created_at and updated_at. The service sets them (epoch milliseconds).' })
  )
}

export const NewTableSchema = Type.Object(newTable, { $id: 'NewTable', title: 'NewTable', ...strict })
export type NewTable = Static<typeof NewTableSchema>

export const TokenNewTableSchema = Type.Object(
  { ...newTable, fields: Type.Array(TokenNewFieldSchema, { minItems: 1, maxItems: MAX_DECLARED_FIELDS }) },
  { $id: 'TokenNewTable', title: 'TokenNewTable', ...strict }
)

export const ImportTableSchema = Type.Object({ name: Type.String({ minLength: 1, maxLength: 1000 }) }, strict)

const FieldChangesSchema = Type.Object(
  {
    name: Type.String(),
    label: Type.Optional(LabelSchema),
    isHidden: Type.Optional(Type.Boolean()),
    isReadonly: Type.Optional(Type.Boolean())
  },
  strict
)
export type FieldChanges = Static<typeof FieldChangesSchema>

export const TableChangesSchema = Type.Object(
  {
    label: Type.Optional(LabelSchema),
    note: Type.Optional(NoteSchema),
    isPublished: Type.Optional(Type.Boolean()),
    isEditable: Type.Optional(Type.Boolean()),
    fields: Type.Optional(Type.Array(FieldChangesSchema, { minItems: 1, maxItems: 2000 }))
  },
  { $id: 'TableChanges', title: 'TableChanges', minProperties: 1, ...strict }
)
export type TableChanges = Static<typeof TableChangesSchema>

export const AddFieldSchema = Type.Object({ field: TokenNewFieldSchema }, strict)

export const UnregisterQuerySchema = Type.Object(
  {
    confirm: Type.Optional(Type.Boolean({ description: 'Must be true. The table and its rows stay in the database.' }))
  },
  strict
)
