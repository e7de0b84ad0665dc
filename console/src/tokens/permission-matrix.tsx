import { Check, Minus } from 'lucide-react'
import type { Table } from '../tables/queries.ts'
import { type TokenActions, tokenActionsOf } from '../tables/token-actions.ts'
import { texts } from '../texts/tokens.ts'
import matrix from '../ui/matrix.module.css'
import type { ChoiceProps } from './permission-fields.tsx'
import { ACTIONS, ALL_TABLES, isForAll, isSameName, type SingleAction } from './permissions.ts'
import styles from './tokens.module.css'

interface MatrixRow extends TokenActions {
  readonly name: string
}

const toRow = (table: Table): MatrixRow => ({ name: table.name, ...tokenActionsOf(table) })

/** A token may name tables that do not exist yet. */
const rowsOf = (registered: readonly Table[], chosen: readonly string[]): MatrixRow[] => {
  const others = chosen.filter((name) => name !== '*' && !registered.some((table) => isSameName(table.name, name)))
  const missing = others.map((name) => ({ name, note: texts.unregistered, isEffective: () => true }))
  return [...registered.map(toRow), ...missing]
}

const ActionHead = ({ actions, onChange }: Pick<ChoiceProps, 'actions' | 'onChange'>) => {
  const toggle = (action: SingleAction) =>
    onChange({ actions: ACTIONS.filter((name) => actions.includes(name) !== (name === action)) })
  return ACTIONS.map((action) => (
    <th key={action} scope="col" title={texts.actionHints[action]}>
      <label>
        <input type="checkbox" checked={actions.includes(action)} onChange={() => toggle(action)} />
        {texts.actionNames[action]}
      </label>
    </th>
  ))
}

const Cells = ({ isAllowed }: { readonly isAllowed: (action: SingleAction) => boolean }) =>
  ACTIONS.map((action) => (
    <td key={action} data-allowed={isAllowed(action)}>
      {isAllowed(action) ? (
        <Check size={14} role="img" aria-label={texts.allowed} />
      ) : (
        <Minus size={14} role="img" aria-label={texts.notAllowed} />
      )}
    </td>
  ))

interface TableRowProps {
  readonly name: string
  readonly note: string | undefined
  readonly isChosen: boolean
  readonly isDisabled?: boolean
  readonly onToggle: () => void
  readonly isAllowed: (action: SingleAction) => boolean
}

const TableRow = ({ name, note, isChosen, isDisabled = false, onToggle, isAllowed }: TableRowProps) => (
  <tr>
    <th scope="row">
      <label dir="auto">
        <input type="checkbox" checked={isChosen} disabled={isDisabled} onChange={onToggle} />
        <span className={styles.tableName}>{name}</span>
        {note !== undefined && <span className={styles.note}>{note}</span>}
      </label>
    </th>
    <Cells isAllowed={isAllowed} />
  </tr>
)

/** Tables × actions: a mark shows what is allowed. The actions are the same for all chosen tables. */
export const PermissionMatrix = ({
  registered,
  tables,
  actions,
  onChange
}: ChoiceProps & { readonly registered: readonly Table[] }) => {
  const all = isForAll(tables)
  const isChosen = (name: string) => all || tables.some((table) => isSameName(table, name))
  const toggle = (name: string) =>
    onChange({
      tables: isChosen(name) ? tables.filter((table) => !isSameName(table, name)) : [...tables, name]
    })
  return (
    <div className={`${matrix.matrix} ${styles.matrix}`}>
      <table aria-label={texts.matrix}>
        <thead>
          <tr>
            <th scope="col">{texts.table}</th>
            <ActionHead actions={actions} onChange={onChange} />
          </tr>
        </thead>
        <tbody>
          <TableRow
            name={texts.allTables}
            note={texts.allTablesHint}
            isChosen={all}
            onToggle={() => onChange({ tables: all ? [] : ALL_TABLES })}
            isAllowed={(action) => all && actions.includes(action)}
          />
          {rowsOf(registered, tables).map(({ name, note, isEffective }) => (
            <TableRow
              key={name}
              name={name}
              note={note}
              isChosen={isChosen(name)}
              isDisabled={all}
              onToggle={() => toggle(name)}
              isAllowed={(action) => isChosen(name) && actions.includes(action) && isEffective(action)}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}
