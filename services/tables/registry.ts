import type { Table } from '../../schemas/table.ts'
import type { Database } from '../engine/database.ts'
import { tableNotFound } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { Column, RegisteredTable, Structure } from '../model/table.ts'
import { declaresReplace } from '../sql/lexer.ts'

/** The columns of `_rowhouse_tables` that make a registered table. */
export const REGISTRY_COLUMNS = 'id, name, label, note, structure, is_published, is_editable, created_at, updated_at'

export const toRegisteredTable = (row: Row): RegisteredTable => ({
  id: Number(row.id),
  name: String(row.name),
  label: String(row.label),
  note: row.note === null ? null : String(row.note),
  structure: JSON.parse(String(row.structure)) as Structure,
  isPublished: row.is_published === 1,
  isEditable: row.is_editable === 1,
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at)
})

const toField = ({ declaredType: _, isGenerated: __, ...field }: Column) => field

const show = ({ structure, id, name, label, ...rest }: RegisteredTable, columns: readonly Column[]): Table => ({
  id,
  name,
  label,
  primaryKey: structure.key.join(','),
  fields: columns.map(toField),
  isPublished: rest.isPublished,
  isEditable: rest.isEditable,
  note: rest.note,
  createdAt: rest.createdAt,
  updatedAt: rest.updatedAt
})

/** A table as administrators see it. */
export const toTable = (table: RegisteredTable) => show(table, table.structure.columns)

/** A table as tokens see it: without what is hidden. */
export const toVisibleTable = (table: RegisteredTable) =>
  show(
    table,
    table.structure.columns.filter((column) => !column.isHidden)
  )

const TRIGGERS = "SELECT tbl_name AS name FROM sqlite_schema WHERE type = 'trigger'"

const CASCADES = `SELECT s.name FROM sqlite_schema AS s, temp.pragma_foreign_key_list(s.name) AS f
  WHERE s.type = 'table' AND f.on_delete = 'CASCADE'`

const REPLACES = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%replace%'"

const names = (rows: readonly Row[]) => new Set(rows.map(({ name }) => foldName(String(name))))

/**
 * The registered tables, in memory: a request finds its table without a read. Loaded at start and when another
 * program has committed; our own changes are applied in the step that acknowledges them.
 */
export const createTableRegistry = (db: Database) => {
  let byId = new Map<number, RegisteredTable>()
  let byName = new Map<string, RegisteredTable>()
  let triggered = new Set<string>()
  let unpredictable = new Set<string>()

  const apply = (table: RegisteredTable) => {
    byId.set(table.id, table)
    byName.set(foldName(table.name), table)
    return table
  }

  const forget = ({ id, name }: RegisteredTable) => {
    byId.delete(id)
    byName.delete(foldName(name))
  }

  const load = async () => {
    const statement = (sql: string) => db.read({ sql, params: [] })
    const [triggers, cascades, replaces] = await Promise.all([
      statement(TRIGGERS),
      statement(CASCADES),
      statement(REPLACES)
    ])
    triggered = names(triggers)
    unpredictable = names([...cascades, ...replaces.filter(({ sql }) => declaresReplace(String(sql)))])
    // After the others, which come later where they meet a lock: what we acknowledge meanwhile must not be undone.
    const rows = await statement(`SELECT ${REGISTRY_COLUMNS} FROM _rowhouse_tables`)
    byId = new Map()
    byName = new Map()
    for (const row of rows) apply(toRegisteredTable(row))
  }

  return {
    load,
    apply,
    forget,
    /** By name, whatever its case. */
    find: (name: string) => byName.get(foldName(name)),
    /** @throws TABLE_NOT_FOUND */
    get: (id: number) => {
      const table = byId.get(id)
      if (!table) throw tableNotFound(id)
      return table
    },
    all: () => [...byId.values()].sort((a, b) => a.id - b.id),
    hasTriggers: ({ name }: RegisteredTable) => triggered.has(foldName(name)),
    /** Only our own inserts and deletes change its number of rows: nothing cascades, replaces, or is triggered. */
    isCountable: ({ name }: RegisteredTable) => triggered.size === 0 && !unpredictable.has(foldName(name))
  }
}

export type TableRegistry = ReturnType<typeof createTableRegistry>
