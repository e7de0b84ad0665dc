import { type AuditEntry, auditRow } from '../../audit/audit-row.ts'
import { type Database, UnexpectedChanges, type WriteResult } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { foldName } from '../../model/names.ts'
import type { Choices, RegisteredTable } from '../../model/table.ts'
import { comparesDeclarations, expectDeclarations } from '../../sql/alter.ts'
import type { Statement, Unit, UnitOptions } from '../../sql/statement.ts'
import { assertFieldUngranted, tableKeepsChanging, wouldBreak, wouldBreakOthers } from '../failures.ts'
import type { TableRegistry } from '../registry/registry.ts'
import { updateChoices } from '../registry/table-statements.ts'
import type { RoleNames, RoleRewrite } from './renames.ts'

/** Each change of any declaration of the file ends one attempt. */
export const MAX_ATTEMPTS = 20

/** A unit that changes the structure, and how it runs. */
export interface StructureChange {
  readonly unit: Unit
  readonly options?: UnitOptions
  /** What the unit does, for the audit. */
  readonly entries: readonly AuditEntry[]
  /** The change of roles that the unit contains. */
  readonly roles?: RoleRewrite
}

/** A change that was tried. */
type TriedChange = StructureChange & Required<Pick<StructureChange, 'options'>>

interface TrialsOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly clock: Clock
  readonly roleNames: Pick<RoleNames, 'rolesUsing'>
}

/** The names of the columns of a view, before and after a change. */
interface ColumnNames {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

const isRenamed = ({ before, after }: ColumnNames) => before.length === after.length

/** Returns the new names of columns that were renamed. */
const newNames = ({ before, after }: ColumnNames) =>
  after.filter((name, index) => foldName(name) !== foldName(String(before[index])))

type ViewChoices = Choices & Required<Pick<Choices, 'viewKey'>>

/** Returns the choices of a view with the new names of its columns, and without the columns that are gone. */
const choicesAfterRenames = (choices: ViewChoices, names: ColumnNames): Choices => {
  const { before, after } = names
  const renamed = new Map(isRenamed(names) ? before.map((name, index) => [foldName(name), after[index] as string]) : [])
  const kept = new Set(after.map(foldName))
  const newName = (name: string) => renamed.get(foldName(name)) ?? name
  const fields = choices.fields.map((field) => ({ ...field, name: newName(field.name) }))
  const isKept = (name: string) => kept.has(foldName(name))
  const viewKey = choices.viewKey.map(newName)
  const labelField = choices.labelField && newName(choices.labelField)
  return {
    ...choices,
    fields: fields.filter(({ name }) => isKept(name)),
    labelField: labelField && isKept(labelField) ? labelField : null,
    viewKey: viewKey.every(isKept) ? viewKey : []
  }
}

/** Tries changes of the structure before they are committed: docs/decisions/0031-schema-changes.md */
export const createTrials = ({ db, registry, clock, roleNames }: TrialsOptions) => {
  /** A view follows a rename of the fields that it shows. @throws RIGHTS_CONFLICT if grants on the view have a new name already */
  const checkNewNames = (view: RegisteredTable, names: ColumnNames) => {
    if (!isRenamed(names)) return
    for (const name of newNames(names)) assertFieldUngranted(view, name, roleNames.rolesUsing(view, name))
  }

  /**
   * Tries a change of the structure. Returns it with a check that the declarations are still those that were tried, and
   * with the new names of columns of registered views. @throws STRUCTURE_IN_USE, RIGHTS_CONFLICT
   */
  const tryChange = async (caller: Caller, change: StructureChange): Promise<TriedChange> => {
    const { unit, options } = change
    const { declarations, broken, hasBroken, changedViews } = await db.tryChange(unit, caller, options)
    if (broken.length > 0) throw caller.kind === 'token' ? wouldBreakOthers() : wouldBreak(broken)
    const views = changedViews.flatMap(({ name, ...columns }): Statement[] => {
      const view = registry.find(name)
      const viewKey = view?.structure && view.choices.viewKey
      if (!viewKey) return []
      checkNewNames(view, columns)
      return [updateChoices(view, choicesAfterRenames({ ...view.choices, viewKey }, columns), clock())]
    })
    return {
      ...change,
      unit: [expectDeclarations(declarations), ...views, ...unit],
      options: { ...options, keepsBroken: hasBroken }
    }
  }

  /** Commits a change with its rows of the audit. Returns the results of the unit. */
  const commit = async (
    caller: Caller,
    { unit, options, entries, roles }: StructureChange
  ): Promise<readonly WriteResult[]> => {
    const rows = entries.map((entry) => auditRow(caller, clock(), entry))
    const results = await db.write([...unit, ...rows], options)
    roles?.apply()
    return results.slice(0, unit.length)
  }

  /**
   * Tries and commits a change that deletes something. Tries it again, after checking the caller's right, if declarations of
   * the file were changed after the trial. @throws STRUCTURE_IN_USE, TABLE_CHANGED
   */
  const commitTried = async (caller: Caller, change: StructureChange): Promise<void> => {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      const tried = await tryChange(caller, change)
      try {
        await commit(caller, tried)
        return
      } catch (error) {
        if (!(error instanceof UnexpectedChanges)) throw error
        if (!comparesDeclarations(tried.unit[error.statement])) throw tableKeepsChanging()
        await caller.confirm()
      }
    }
    throw tableKeepsChanging()
  }

  return { tryChange, commit, commitTried }
}

type Trials = ReturnType<typeof createTrials>
export type TryChange = Trials['tryChange']
export type CommitChange = Trials['commit']
export type CommitTried = Trials['commitTried']
