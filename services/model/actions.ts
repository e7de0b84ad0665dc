import type { Action } from '../../schemas/token-action.ts'

/** An action that a request needs on a table. `write` is none of them: it grants all of them except `read`. */
export type TableAction = Exclude<Action, 'write'>

interface RequestedChange {
  /** The change creates a record, or updates the one that exists. */
  readonly isUpsert?: boolean
  /** The response shows a record as it is stored, or which records match a filter. */
  readonly showsRecords?: boolean
}

/** Returns the actions that a change of records needs, besides the action of its kind. */
export const furtherActionsOf = ({
  isUpsert = false,
  showsRecords = false
}: RequestedChange): readonly TableAction[] => [
  ...(isUpsert ? (['update'] as const) : []),
  ...(showsRecords ? (['read'] as const) : [])
]
