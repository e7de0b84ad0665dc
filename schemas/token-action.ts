import { Type } from '@sinclair/typebox'

export const actions = ['read', 'write', 'create', 'update', 'delete', 'schema'] as const
export type Action = (typeof actions)[number]

/** The single actions. `write` is several of them. */
export const tableActions: readonly Exclude<Action, 'write'>[] = actions.filter((action) => action !== 'write')

export const ActionSchema = Type.Unsafe<Action>({
  type: 'string',
  title: 'TokenAction',
  enum: actions,
  examples: ['read'],
  description:
    '`read`: list and read records, read the schema. `create`: create records. `update`: update and increment records. `delete`: delete records. `schema`: create tables, add fields. `write`: `create`, `update`, `delete` and `schema`.'
})
