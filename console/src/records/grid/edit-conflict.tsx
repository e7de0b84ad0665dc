import { type Table, titleOf } from '../../tables/queries.ts'
import { ConflictDialog } from '../conflict/conflict-dialog.tsx'
import { type Edits, mineOf } from './use-edits.ts'

interface EditConflictProps {
  readonly table: Table
  readonly edits: Edits
}

/** The first conflict that the user has to decide. The others follow. */
export const EditConflict = ({ table, edits: { conflict, keepMine, takeTheirs } }: EditConflictProps) =>
  conflict && (
    <ConflictDialog
      key={`${conflict.field} ${conflict.pk}`}
      table={table}
      name={`${titleOf(table)} ${conflict.pk}`}
      mine={mineOf(conflict)}
      theirs={conflict.theirs.record}
      onKeepMine={keepMine}
      onTakeTheirs={takeTheirs}
    />
  )
