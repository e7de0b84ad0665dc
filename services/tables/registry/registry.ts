import { suggestName } from '../../../schemas/similar-names.ts'
import type { Database } from '../../engine/database.ts'
import { serviceCaller } from '../../model/caller.ts'
import { tableNotFound } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import type { Row, SqlValue } from '../../model/sql-value.ts'
import type { RegisteredTable, Registration, Structure, UnusableTable } from '../../model/table.ts'
import { toStructure } from '../../sql/introspection.ts'
import { tableUnusable } from '../failures.ts'
import { readChoices } from './choices.ts'
import { exactFieldsOf } from './exactness.ts'
import { guessLabelField } from './label-field.ts'
import { createReferenceEffects } from './reference-effects.ts'
import { createReplication } from './replication.ts'
import { searchIndexOf } from './search-state.ts'
import { readRegisteredView } from './stored-views.ts'
import { combine, renameInSources } from './structure.ts'
import {
  describeRegistrations,
  selectRegisteredViews,
  selectRegistrations,
  selectSchemaVersion,
  selectStoredNames
} from './table-statements.ts'
import { type ChosenTable, hiddenSourcesOf, isSameTable, withHiddenSources } from './view-fields.ts'
import { withShownTypes } from './view-types.ts'
import { createWriteEffects } from './write-effects.ts'

const toMetadata = (row: Row) => ({
  id: Number(row.id),
  name: String(row.name),
  label: String(row.label),
  note: row.note === null ? null : String(row.note),
  isPublished: row.is_published === 1,
  isEditable: row.is_editable === 1,
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at)
})

const nameOf = (row: Row) => foldName(String(row.name))

/** What SQLite reports of a stored table; null where it has no table or view of the name that can be served. */
type Facts = Structure | null

/** Returns the facts about a table after a change. `known`: those that the registry has. */
export type DeriveFacts = (known: Facts | undefined) => Facts

/** Whether a field may show the values of another column. */
const mayShowHidden = ({ isView, columns }: Structure) => isView || columns.some(({ isGenerated }) => isGenerated)

/** `ref`: the id or the name in the request. @throws TABLE_NOT_FOUND, TABLE_UNUSABLE */
const assertUsable = (table: Registration | undefined, ref: number | string): RegisteredTable => {
  if (!table) throw tableNotFound(ref)
  if (table.structure === null) throw tableUnusable(table.name)
  return table
}

/**
 * The registered tables, in memory: a request finds its table without a read. Loaded at start and after external
 * commits; our own changes are applied in the step that acknowledges them. SQLite describes the stored tables again
 * only if the schema has changed since the last load.
 */
export const createTableRegistry = (db: Database) => {
  const effects = createWriteEffects(db)
  const references = createReferenceEffects(db)
  const replication = createReplication(db)
  let byId = new Map<number, Registration>()
  let byName = new Map<string, Registration>()
  let facts = new Map<string, Facts>()
  /** The folded names of all tables and views of the file, also of those that are not registered. */
  let storedNames = new Set<string>()
  /** The ids of tables by their folded client names. null: to be made from the tables. */
  let byClientName: Map<string, number> | null = null
  let schemaVersion: SqlValue | undefined
  let unreported: UnusableTable[] = []

  /** SQL views, and tables with generated columns, before fields are hidden that may show hidden columns. */
  let showing = new Map<number, RegisteredTable>()

  const put = (table: Registration) => {
    byId.set(table.id, table)
    byName.set(foldName(table.name), table)
    storedNames.add(foldName(table.name))
    byClientName = null
  }

  const find = (name: string) => byName.get(foldName(name))

  const clientNamesOf = (tables: Iterable<Registration>) =>
    [...tables].flatMap((table) => (table.structure ? [[foldName(table.choices.clientName), table.id] as const] : []))

  const findByClientName = (name: string) => {
    byClientName ??= new Map(clientNamesOf(byId.values()))
    const id = byClientName.get(foldName(name))
    return id === undefined ? undefined : byId.get(id)
  }

  const findByPath = (name: string) =>
    find(name) ?? (storedNames.has(foldName(name)) ? undefined : findByClientName(name))

  /**
   * To be called after every change: a field is hidden if it shows a hidden column of this or of another table, and a
   * field of a view has the type of the column that it shows.
   */
  const hideShown = () => {
    for (const table of showing.values()) {
      const served = withHiddenSources(withShownTypes(table, find), find)
      if (!isSameTable(byId.get(table.id), served)) put(served)
    }
  }

  const register = (table: Registration) => {
    put(table)
    showing.delete(table.id)
    if (table.structure && mayShowHidden(table.structure)) showing.set(table.id, table)
  }

  const add = (table: RegisteredTable) => {
    register(table)
    hideShown()
    return byId.get(table.id) as RegisteredTable
  }

  /** SQLite renames the table in the views that read it, too. */
  const renameInViews = (from: string, to: string) => {
    for (const [name, known] of facts) if (known) facts.set(name, renameInSources(known, from, to))
    for (const [id, view] of showing) showing.set(id, { ...view, structure: renameInSources(view.structure, from, to) })
  }

  const toRegisteredTable = (row: Row): RegisteredTable => {
    const stored = readChoices(String(row.choices))
    const served = combine(facts.get(nameOf(row)) ?? null, stored)
    const choices = { labelField: guessLabelField(served.structure), ...stored }
    const exactFields = exactFieldsOf(String(row.name), served.structure, choices, effects)
    const hasConflictTriggers = effects.hasConflictTriggers(String(row.name))
    const replicated = replication.of(String(row.name), served.structure)
    const table = { ...toMetadata(row), choices, ...served, exactFields, hasConflictTriggers, ...replicated }
    return { ...table, searchIndex: searchIndexOf(row, table) }
  }

  const toRegistration = (row: Row): Registration => {
    try {
      return toRegisteredTable(row)
    } catch (error) {
      const { isPublished: wasPublished, ...metadata } = toMetadata(row)
      const problem = (error as Error).message
      return { ...metadata, structure: null, isPublished: false, isEditable: false, wasPublished, problem }
    }
  }

  const replaceAll = (rows: readonly Row[]) => {
    const before = byId
    byId = new Map()
    byName = new Map()
    showing = new Map()
    for (const row of rows) {
      const table = toRegistration(row)
      register(table)
      if (table.structure === null && before.get(table.id)?.structure !== null) unreported.push(table)
    }
    hideShown()
  }

  /** Returns false if a row names a table that SQLite has not described: another program added or renamed the row. */
  const loadRows = async () => {
    const rows = await db.read(selectRegistrations)
    const isKnown = rows.every((row) => facts.has(nameOf(row)))
    if (isKnown) replaceAll(rows)
    return isKnown
  }

  /** Describes each registered view apart from the others: it may be broken. undefined: it could not be read now. */
  const describeViews = async () => {
    const views = new Map<string, Facts | undefined>()
    for (const row of await db.read(selectRegisteredViews)) {
      views.set(nameOf(row), await readRegisteredView(db, serviceCaller, String(row.name)))
    }
    return views
  }

  /**
   * Reads again what triggers, foreign keys and declarations do. Call it before a table is registered or refreshed: a cluster
   * does not report what another client of it has declared.
   */
  const loadFacts = async () => {
    await effects.load()
    await references.load()
    await replication.load()
  }

  const reload = async (): Promise<void> => {
    const version = (await db.read(selectSchemaVersion(db.dialect)))[0]?.schema_version
    if (version === schemaVersion && (await loadRows())) return
    await loadFacts()
    const views = await describeViews()
    const names = await db.read(selectStoredNames)
    const factsOfView = (name: string): Facts => {
      const read = views.get(name)
      // It was registered since, or could not be read.
      return read === undefined ? (facts.get(name) ?? null) : read
    }
    // Last, and nothing is awaited after it: the reads before it may be delayed by a lock, and this must not undo a
    // change that is acknowledged during the delay.
    const rows = await db.read(describeRegistrations(db.dialect))
    // What the views read may have changed together with what is hidden.
    if (rows.some(({ schema_version }) => schema_version !== version)) return reload()
    facts = new Map(
      rows.map((row) => [nameOf(row), row.stored_type === 'view' ? factsOfView(nameOf(row)) : toStructure(row)])
    )
    storedNames = new Set(names.map(nameOf))
    // The next reload reads a view again that could not be read.
    schemaVersion = [...views.values()].includes(undefined) ? undefined : version
    replaceAll(rows)
  }

  /** Loads the registry. Returns the tables that have become unusable since the last call. */
  const load = async (): Promise<readonly UnusableTable[]> => {
    await reload()
    const tables = unreported
    unreported = []
    return tables
  }

  return {
    load,
    loadFacts,
    reload,
    /** Sets what SQLite reported of a stored table. To be called in the step in which the read resolves. */
    describe: (name: string, structure: Structure) => facts.set(foldName(name), structure),
    /**
     * Applies a row that was written. The facts are derived from the known ones, since a load may have read newer ones
     * after the commit.
     */
    apply: (row: Row, derive: DeriveFacts = (known) => known ?? null) => {
      facts.set(nameOf(row), derive(facts.get(nameOf(row))))
      return add(toRegisteredTable(row))
    },
    /** Applies the row of a table that was renamed. */
    rename: ({ name }: RegisteredTable, row: Row) => {
      const known = facts.get(foldName(name)) as Facts
      byName.delete(foldName(name))
      storedNames.delete(foldName(name))
      facts.delete(foldName(name))
      facts.set(nameOf(row), known)
      renameInViews(name, String(row.name))
      return add(toRegisteredTable(row))
    },
    remove: ({ id, name }: Registration) => {
      byId.delete(id)
      byName.delete(foldName(name))
      byClientName = null
      facts.delete(foldName(name))
      showing.delete(id)
      hideShown()
    },
    /** Returns the hidden columns that the fields of a table may show. */
    hiddenSources: (table: ChosenTable) => hiddenSourcesOf(table, find),
    /** Finds a registration by its name, ignoring case. */
    find,
    /**
     * Finds the table that a path names: by its stored name, otherwise by its client name. A table of the file that is not
     * registered hides the client name of another one, so that no path changes its meaning when it is registered.
     */
    findByPath,
    /** @throws TABLE_NOT_FOUND */
    getRegistration: (id: number) => {
      const table = byId.get(id)
      if (!table) throw tableNotFound(id)
      return table
    },
    /** @throws TABLE_NOT_FOUND, TABLE_UNUSABLE */
    get: (id: number): RegisteredTable => assertUsable(byId.get(id), id),
    /** Like `get`, by a name that a path may have. @throws TABLE_NOT_FOUND with a similar name, TABLE_UNUSABLE */
    getByPath: (name: string): RegisteredTable => {
      const table = findByPath(name)
      const namesOf = (tables: Iterable<Registration>) => [...tables].map((known) => known.name)
      if (!table) throw tableNotFound(name, suggestName(name, namesOf(byId.values())))
      return assertUsable(table, name)
    },
    /** The names of all tables but one in generated clients. */
    clientNames: (except: number | null) =>
      [...byId.values()].flatMap((table) => (table.structure && table.id !== except ? [table.choices.clientName] : [])),
    all: () => [...byId.values()].sort((a, b) => a.id - b.id),
    hasTriggers: effects.hasTriggers,
    hasUpdateEffects: effects.hasUpdateEffects,
    isCountable: effects.isCountable,
    isCostly: effects.isCostly,
    effectsOf: references.effectsOf
  }
}

export type TableRegistry = ReturnType<typeof createTableRegistry>
