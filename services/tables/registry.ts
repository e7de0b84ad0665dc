import type { Table } from '../../schemas/table.ts'
import type { Database } from '../engine/database.ts'
import { tableNotFound } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { Row, SqlValue } from '../model/sql-value.ts'
import type { Column, RegisteredTable, Registration, Structure, UnusableTable } from '../model/table.ts'
import { toStructure } from '../sql/introspection.ts'
import { declaresReplace } from '../sql/lexer.ts'
import type { Statement } from '../sql/statement.ts'
import { readChoices } from './choices.ts'
import { tableUnusable } from './failures.ts'
import { combine } from './structure.ts'
import { describeRegistrations, selectRegistrations } from './table-statements.ts'

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

const toField = ({ declaredType: _, isGenerated: __, ...field }: Column) => field

const show = (registration: Registration, primaryKey: string, columns: readonly Column[]): Table => {
  const { id, name, label, isPublished, isEditable, note, createdAt, updatedAt } = registration
  const fields = columns.map(toField)
  return { id, name, label, primaryKey, fields, isPublished, isEditable, note, createdAt, updatedAt }
}

/** A table as administrators see it. */
export const toTable = (table: Registration) =>
  table.structure ? show(table, table.structure.key.join(','), table.structure.columns) : show(table, '', [])

/** A table as tokens see it, without hidden fields. */
export const toVisibleTable = (table: RegisteredTable) => {
  const { key, columns } = table.structure
  return show(
    table,
    key.join(','),
    columns.filter((column) => !column.isHidden)
  )
}

const statement = (sql: string): Statement => ({ sql, params: [] })

const SCHEMA_VERSION = statement('PRAGMA schema_version')

const TRIGGERS = statement("SELECT tbl_name AS name FROM sqlite_schema WHERE type = 'trigger'")

const CASCADES = statement(`SELECT s.name FROM sqlite_schema AS s, temp.pragma_foreign_key_list(s.name) AS f
  WHERE s.type = 'table' AND f.on_delete = 'CASCADE'`)

const REPLACES = statement("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%replace%'")

const names = (rows: readonly Row[]) => new Set(rows.map(({ name }) => foldName(String(name))))

const nameOf = (row: Row) => foldName(String(row.name))

/** What SQLite reports of a stored table; null where it has no ordinary table of the name. */
type Facts = Structure | null

/**
 * The registered tables, in memory: a request finds its table without a read. Loaded at start and after external
 * commits; our own changes are applied in the step that acknowledges them. SQLite describes the stored tables again
 * only if the schema has changed since the last load.
 */
export const createTableRegistry = (db: Database) => {
  let byId = new Map<number, Registration>()
  let byName = new Map<string, Registration>()
  let facts = new Map<string, Facts>()
  let schemaVersion: SqlValue | undefined
  let triggered = new Set<string>()
  let unpredictable = new Set<string>()
  let unreported: UnusableTable[] = []

  const add = <T extends Registration>(table: T) => {
    byId.set(table.id, table)
    byName.set(foldName(table.name), table)
    return table
  }

  const toRegisteredTable = (row: Row): RegisteredTable => {
    const choices = readChoices(String(row.choices))
    return { ...toMetadata(row), choices, ...combine(facts.get(nameOf(row)) ?? null, choices) }
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
    for (const row of rows) {
      const table = add(toRegistration(row))
      if (table.structure === null && before.get(table.id)?.structure !== null) unreported.push(table)
    }
  }

  /** Returns false if a row names a table that SQLite has not described: another program added or renamed the row. */
  const loadRows = async () => {
    const rows = await db.read(selectRegistrations)
    const isKnown = rows.every((row) => facts.has(nameOf(row)))
    if (isKnown) replaceAll(rows)
    return isKnown
  }

  const loadTriggers = async () => {
    const [triggers, cascades, replaces] = await Promise.all([db.read(TRIGGERS), db.read(CASCADES), db.read(REPLACES)])
    triggered = names(triggers)
    unpredictable = names([...cascades, ...replaces.filter(({ sql }) => declaresReplace(String(sql)))])
  }

  const reload = async () => {
    const version = (await db.read(SCHEMA_VERSION))[0]?.schema_version
    if (version === schemaVersion && (await loadRows())) return
    await loadTriggers()
    // Last, and nothing is awaited after it: the reads before it may be delayed by a lock, and this must not undo a
    // change that is acknowledged during the delay.
    const rows = await db.read(describeRegistrations)
    facts = new Map(rows.map((row) => [nameOf(row), toStructure(row)]))
    schemaVersion = version
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
    reload,
    /** Sets what SQLite reported of a stored table. To be called in the step in which the read resolves. */
    describe: (name: string, structure: Structure) => facts.set(foldName(name), structure),
    /**
     * Applies a row that was written. `derive` returns the facts after the change from those that are known: a load may
     * have read newer ones since the commit.
     */
    apply: (row: Row, derive = (known: Facts | undefined): Facts => known ?? null) => {
      facts.set(nameOf(row), derive(facts.get(nameOf(row))))
      return add(toRegisteredTable(row))
    },
    remove: ({ id, name }: Registration) => {
      byId.delete(id)
      byName.delete(foldName(name))
      facts.delete(foldName(name))
    },
    /** Finds a registration by its name, ignoring case. */
    find: (name: string) => byName.get(foldName(name)),
    /** @throws TABLE_NOT_FOUND */
    getRegistration: (id: number) => {
      const table = byId.get(id)
      if (!table) throw tableNotFound(id)
      return table
    },
    /** @throws TABLE_NOT_FOUND, TABLE_UNUSABLE */
    get: (id: number): RegisteredTable => {
      const table = byId.get(id)
      if (!table) throw tableNotFound(id)
      if (table.structure === null) throw tableUnusable(table.name)
      return table
    },
    all: () => [...byId.values()].sort((a, b) => a.id - b.id),
    hasTriggers: ({ name }: RegisteredTable) => triggered.has(foldName(name)),
    /** Whether only our own inserts and deletes change the number of rows: no cascade, REPLACE or trigger does. */
    isCountable: ({ name }: RegisteredTable) => triggered.size === 0 && !unpredictable.has(foldName(name))
  }
}

export type TableRegistry = ReturnType<typeof createTableRegistry>
