import { type Static, Type } from '@sinclair/typebox'
import { strict, TableIdSchema } from './envelope.ts'
import { FieldLabelSchema, NAME_RULE, NoteSchema, TableLabelSchema } from './new-table.ts'
import { CLIENT_NAME_PATTERN, NAME_PATTERN } from './patterns.ts'
import {
  EditableSchema,
  fieldNameExample,
  HiddenSchema,
  JsonTypeSchema,
  LabelFieldSchema,
  PublishedSchema,
  ReadonlySchema
} from './table.ts'

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

export const tableChanges = {
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
    labelField: Type.Optional(LabelFieldSchema),
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
