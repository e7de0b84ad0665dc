import { texts } from '../texts/audit.ts'
import { ListTable } from '../ui/list-table.tsx'
import { LocalTime } from '../ui/time.tsx'
import styles from './audit.module.css'
import type { AuditRow } from './queries.ts'
import { summaryText } from './summary.ts'

const { time, caller, action, target, summary, address } = texts.columns

const COLUMNS = [
  { key: 'time', label: time },
  { key: 'caller', label: caller },
  { key: 'action', label: action },
  { key: 'target', label: target },
  { key: 'summary', label: summary, isSecondary: true },
  { key: 'address', label: address, isSecondary: true }
]

const Caller = ({ row: { callerName, callerKind } }: { readonly row: AuditRow }) => (
  <div className={styles.caller}>
    <span dir="auto">{callerName}</span> <span className={styles.note}>{texts.callerKinds[callerKind]}</span>
  </div>
)

const Summary = ({ text }: { readonly text: string }) => (
  <div className={styles.summary} title={text} dir="auto">
    {text}
  </div>
)

interface AuditListProps {
  readonly rows: readonly AuditRow[]
  readonly onOpen: (row: AuditRow) => void
}

/** The rows of the audit. The action of a row opens its details. */
export const AuditList = ({ rows, onOpen }: AuditListProps) => {
  const cell = (row: AuditRow, column: string) => {
    if (column === 'time') return <LocalTime value={row.at} />
    if (column === 'caller') return <Caller row={row} />
    if (column === 'target') return <span dir="auto">{row.target}</span>
    if (column === 'summary') return <Summary text={summaryText(row.summary)} />
    if (column === 'address') return <code>{row.address}</code>
    return (
      <button type="button" className={styles.open} onClick={() => onOpen(row)}>
        {texts.actionOf(row.action, row.count)}
      </button>
    )
  }
  return <ListTable label={texts.title} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} cell={cell} />
}
