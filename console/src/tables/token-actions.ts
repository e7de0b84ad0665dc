import { texts } from '../texts/tokens.ts'
import type { Table } from './queries.ts'

/** What tokens can do with a table at most, whatever their permissions or their role. */
export interface TokenActions {
  /** Why some actions have no effect. */
  readonly note: string | undefined
  readonly isEffective: (action: string) => boolean
}

const isRead = (action: string) => action === 'read'

export const tokenActionsOf = ({ isPublished, isEditable, kind }: Table): TokenActions => {
  if (!isPublished) return { note: texts.unpublished, isEffective: () => false }
  if (kind === 'view') return { note: texts.isView, isEffective: isRead }
  if (isEditable) return { note: undefined, isEffective: () => true }
  return { note: texts.readOnlyTable, isEffective: isRead }
}
