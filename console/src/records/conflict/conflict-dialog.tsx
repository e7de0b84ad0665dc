import type { Table } from '../../tables/queries.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/record-conflict.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { FieldValue } from '../fields/field-value.tsx'
import type { Row } from '../keys.ts'
import { isSameValue } from '../values.ts'
import styles from './conflict-dialog.module.css'

interface ConflictDialogProps {
  readonly table: Table
  /** The record, in the words of the user: "Album 7". */
  readonly name: string
  readonly mine: Row
  readonly theirs: Row
  readonly onKeepMine: () => void
  readonly onTakeTheirs: () => void
  /** Leaves the choice for later. Left out: the user has to choose. */
  readonly onLater?: () => void
}

const Versions = ({ table, mine, theirs }: Pick<ConflictDialogProps, 'table' | 'mine' | 'theirs'>) => (
  <table className={styles.versions}>
    <thead>
      <tr>
        <th scope="col">{texts.field}</th>
        <th scope="col">{texts.mine}</th>
        <th scope="col">{texts.theirs}</th>
      </tr>
    </thead>
    <tbody>
      {table.fields
        .filter(({ name }) => !isSameValue(mine[name], theirs[name]))
        .map((field) => (
          <tr key={field.name}>
            <th scope="row">{field.label || field.name}</th>
            <td>
              <FieldValue table={table} field={field} value={mine[field.name]} />
            </td>
            <td>
              <FieldValue table={table} field={field} value={theirs[field.name]} />
            </td>
          </tr>
        ))}
    </tbody>
  </table>
)

/** Both versions of a record that two people have changed, and the choice between them. */
export const ConflictDialog = ({ name, onKeepMine, onTakeTheirs, onLater, ...versions }: ConflictDialogProps) => (
  <Dialog title={texts.title(name)} hint={texts.hint} isWide {...(onLater && { onClose: onLater })}>
    <Versions {...versions} />
    <Actions>
      {onLater && (
        <Button variant="quiet" onClick={onLater}>
          {common.cancel}
        </Button>
      )}
      <Button onClick={onTakeTheirs}>{texts.takeTheirs}</Button>
      <Button variant="primary" onClick={onKeepMine}>
        {texts.keepMine}
      </Button>
    </Actions>
  </Dialog>
)
