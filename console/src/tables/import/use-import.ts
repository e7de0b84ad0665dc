import { useState } from 'react'
import { tablesChanged } from '../queries.ts'
import {
  type Access,
  type Choice,
  type Importable,
  importTable,
  isSameChoice,
  NO_CHOICE,
  type Progress,
  toImport
} from './choices.ts'

/** The choices for each table by its name, and the import of the chosen ones. */
export const useImport = () => {
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map())
  const [progress, setProgress] = useState<ReadonlyMap<string, Progress>>(new Map())
  const [access, setAccess] = useState<Access>({ isPublished: true, isEditable: true })
  const [isRunning, setRunning] = useState(false)

  const choiceOf = (name: string) => choices.get(name) ?? NO_CHOICE
  const change = (names: readonly string[], changed: Partial<Choice>) =>
    setChoices(new Map([...choices, ...names.map((name) => [name, { ...choiceOf(name), ...changed }] as const)]))
  const report = (name: string, state: Progress) => setProgress((before) => new Map([...before, [name, state]]))

  const importOne = async (table: Importable) => {
    report(table.name, { state: 'running' })
    try {
      const imported = await importTable(toImport(table, choiceOf(table.name), access))
      report(table.name, { state: 'done', table: imported })
    } catch (error) {
      report(table.name, { state: 'failed', error })
    }
  }

  /** Imports one table after the other, so that one failure stops no other. */
  const run = async (tables: readonly Importable[]) => {
    setRunning(true)
    for (const { name } of tables) report(name, { state: 'waiting' })
    for (const table of tables) await importOne(table)
    await tablesChanged()
    setRunning(false)
  }
  /** Whether something is chosen whose import has not been tried. */
  const isDirty = [...choices].some(([name, choice]) => !isSameChoice(choice, NO_CHOICE) && !progress.has(name))
  return { isDirty, access, setAccess, choiceOf, change, progress, isRunning, run }
}

export type ImportState = ReturnType<typeof useImport>
