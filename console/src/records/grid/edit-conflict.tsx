import { type Table, titleOf } from '../../tables/queries.ts'
import { ConflictDialog } from '../conflict/conflict-dialog.tsx'
import type { Edits } from './use-edits.ts'

interface EditConflictProps {
  readonly table: Table
  readonly edits: Edits
}

/** The first conflict that the user has to decide. The others follow. */
export const EditConflict = ({ table, edits: { conflict, keepMine, takeTheirs } }: EditConflictProps) =>
  conflict && (
    <ConflictDialog
      key={`${conflict.edit.field} ${conflict.edit.pk}`}
      table={table}
      name={`${titleOf(table)} ${conflict.edit.pk}`}
      mine={{ ...conflict.theirs.record, [conflict.edit.field]: conflict.edit.value }}
      theirs={conflict.theirs.record}
      onKeepMine={keepMine}
      onTakeTheirs={takeTheirs}
    />
  )
