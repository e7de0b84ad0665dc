import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { strict } from './envelope.ts'
import { Double, Int64 } from './numbers.ts'
import { NAME_PATTERN } from './patterns.ts'
import { fieldNameExample, HiddenSchema, JsonTypeSchema, ReadonlySchema, type SqliteType } from './table.ts'

const declarableTypes: readonly SqliteType[] = ['INTEGER', 'TEXT', 'REAL', 'BLOB']

const DeclaredTypeSchema = Type.Unsafe<SqliteType>({
  type: 'string',
  enum: declarableTypes,
  examples: ['REAL'],
  description:
    'Stored type. Not needed, except for bytes: BLOB with the `jsonType` string, and values as base64 text. The others follow from `jsonType`: INTEGER for integer and boolean, REAL for number, TEXT for string, object and array.'
})

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

/** SQLite's json_object takes 500 pairs, and Rowhouse may add a key and two timestamps. */
export const MAX_DECLARED_FIELDS = 490
const labelSchema = (example: string, description = 'Name for display.') =>
  Type.String({ maxLength: 200, description, examples: [example] })
export const TableLabelSchema = labelSchema('Products')
export const FieldLabelSchema = labelSchema('Price')
export const NoteSchema = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 4000,
  description: 'A remark of an administrator. null: none.',
  examples: ['Prices include tax.']
})

export const NAME_RULE = 'Starts with a letter, has only ASCII letters, digits and `_`, and at most 63 characters.'

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
  label: Type.Optional(labelSchema('Products', 'Name for display. The default is the name.'))
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

export const FieldAdditionSchema = Type.Object(
  { field: NewFieldSchema },
  { title: 'AdminTableFieldAddition', description: 'The field to add, from an administrator.', ...strict }
)

export const TokenFieldAdditionSchema = Type.Object(
  { field: TokenNewFieldSchema },
  { title: 'TableFieldAddition', description: 'The field to add.', ...strict }
)
