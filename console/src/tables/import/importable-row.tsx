import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { texts } from '../../texts/import-tables.ts'
import { IconButton } from '../../ui/button.tsx'
import { formatCount } from '../../ui/size.ts'
import list from '../list.module.css'
import type { Importable, Progress } from './choices.ts'
import { FieldChoices } from './field-choices.tsx'
import type { ImportState } from './use-import.ts'

const Outcome = ({ table, progress }: { readonly table: Importable; readonly progress: Progress | undefined }) => {
  if (!table.isImportable) return <span className={list.dim}>{table.reason}</span>
  if (progress?.state === 'failed') {
    const { error } = progress
    return <span className={list.problem}>{error instanceof Error ? error.message : String(error)}</span>
  }
  if (progress?.state === 'done') return <Link href={`/tables/${progress.table.id}`}>{texts.open(table.name)}</Link>
  return <span className={list.dim}>{progress && texts.states[progress.state]}</span>
}

const ChoiceCell = ({
  table,
  state,
  isOpen
}: {
  readonly table: Importable
  readonly state: ImportState
  readonly isOpen: boolean
}) => (
  <td className={list.narrow}>
    <input
      type="checkbox"
      aria-label={texts.choose(table.name)}
      disabled={!isOpen || state.isRunning}
      checked={state.choiceOf(table.name).isChosen}
      onChange={({ target }) => state.change([table.name], { isChosen: target.checked })}
    />
  </td>
)

/** What an administrator decided, in a few words. */
const summaryOf = (state: ImportState, name: string) => {
  const { hidden } = state.choiceOf(name)
  return hidden.size === 0 ? '' : texts.hidden(hidden.size)
}

/** One table of the list, with the choices about its fields below it. */
export const ImportableRow = ({ table, state }: { readonly table: Importable; readonly state: ImportState }) => {
  const [isExpanded, setExpanded] = useState(false)
  const { name, kind, rows, isImportable } = table
  const progress = state.progress.get(name)
  const isOpen = isImportable && progress?.state !== 'done'
  const Icon = isExpanded && isOpen ? ChevronDown : ChevronRight
  return (
    <>
      <tr>
        <ChoiceCell table={table} state={state} isOpen={isOpen} />
        <td className={list.narrow}>
          {isOpen && (
            <IconButton
              label={texts.fieldsOf(name)}
              aria-expanded={isExpanded}
              onClick={() => setExpanded(!isExpanded)}
            >
              <Icon size={14} aria-hidden="true" />
            </IconButton>
          )}
        </td>
        <td className={list.name} title={name} dir="auto">
          {name}
        </td>
        <td className={list.dim}>{texts.kinds[kind]}</td>
        <td className={list.number}>{rows === null ? '' : formatCount(rows)}</td>
        <td>{summaryOf(state, name)}</td>
        <td>
          <Outcome table={table} progress={progress} />
        </td>
      </tr>
      {isExpanded && isOpen && (
        <tr>
          <td colSpan={7}>
            <FieldChoices
              table={table}
              choice={state.choiceOf(name)}
              onChange={(changed) => state.change([name], changed)}
            />
          </td>
        </tr>
      )}
    </>
  )
}
