import type { Database } from '../../engine/database.ts'
import { foldName } from '../../model/names.ts'
import type { Row } from '../../model/sql-value.ts'
import type { Structure } from '../../model/table.ts'
import type { AffectedRows, Reaction } from '../../sql/affected-rows.ts'
import { type StoredIndex, toIndexes } from '../../sql/indexes.ts'
import { describeTables, toStructure } from '../../sql/introspection.ts'
import type { Statement } from '../../sql/statement.ts'

const REFERENCES: Statement = {
  sql: `SELECT s.name AS child, f.id, f.seq, f."table" AS parent, f."from" AS field, f."to" AS target, f.on_update, f.on_delete
    FROM sqlite_schema AS s, temp.pragma_foreign_key_list(s.name) AS f WHERE s.type = 'table' ORDER BY s.name, f.id, f.seq`,
  params: []
}

/** A table with the names as SQLite has them. */
interface StoredTable {
  readonly name: string
  readonly structure: Structure
  readonly indexes: readonly StoredIndex[]
}

/** A foreign key, as the table to which it refers sees it. */
interface Referrer {
  readonly child: StoredTable
  readonly fields: readonly string[]
  readonly targetFields: readonly string[]
  readonly onUpdate: string
  readonly onDelete: string
  /** Whether an index finds the records that refer to one of the parent. */
  readonly isIndexed: boolean
}

/** The columns that an update sets. null: the rows are deleted. */
export type ChangedColumns = readonly string[] | null

/** Reads of a child for each affected row of its parent, which SQLite makes for a foreign key. */
export interface ReferenceCheck {
  /** The position of the parent's rows. */
  readonly parent: number
  readonly child: string
  readonly fields: readonly string[]
  readonly isIndexed: boolean
}

/** What a change of rows of a table causes through foreign keys. */
export interface ReferenceEffects {
  /** The first are the changed rows themselves. */
  readonly rows: readonly [AffectedRows, ...AffectedRows[]]
  readonly reactions: readonly Reaction[]
  readonly checks: readonly ReferenceCheck[]
}

/** Returns null if no foreign key refers to what the change changes. */
export type EffectsOf = (table: string, structure: Structure, changed: ChangedColumns) => ReferenceEffects | null

const sameNames = (some: readonly (string | null)[], others: readonly string[]) => {
  const names = new Set(some.map((name) => name && foldName(name)))
  return others.every((name) => names.has(foldName(name)))
}

const isServed = ({ structure, indexes }: StoredTable, fields: readonly string[]) => {
  const full = indexes.filter(({ isPartial }) => !isPartial).map(({ columns }) => columns)
  const keys = structure.isRowidKey ? [structure.key, ...full] : full
  return keys.some((columns) => sameNames(columns.slice(0, fields.length), fields))
}

const identityOf = ({ rowid, key }: Structure) => (rowid === null ? key : [rowid])

export const toAffectedRows = (table: string, structure: Structure): AffectedRows => ({
  table,
  identity: identityOf(structure),
  columns: structure.columns.filter(({ isGenerated }) => !isGenerated).map(({ name }) => name)
})

const toStoredTable = (row: Row): readonly (readonly [string, StoredTable])[] => {
  const structure = toStructure(row)
  if (structure === null) return []
  const name = String(row.stored_name)
  return [[foldName(name), { name, structure, indexes: toIndexes(row) }]]
}

/** Returns the columns that a foreign key's action sets in the child; undefined if it changes nothing. */
const changedByAction = (
  action: string,
  fields: readonly string[],
  changed: ChangedColumns
): ChangedColumns | undefined => {
  if (action === 'NO ACTION' || action === 'RESTRICT') return undefined
  return action === 'CASCADE' && changed === null ? null : fields
}

/** Finds what changes cause through the foreign keys of the file, of registered tables and others. */
export const createReferenceEffects = (db: Database) => {
  let referrers = new Map<string, Referrer[]>()

  const load = async () => {
    const rows = await db.read(REFERENCES)
    const names = [...new Set(rows.flatMap(({ child, parent }) => [String(child), String(parent)]))]
    const described = await db.read(describeTables(names))
    const tables = new Map(described.flatMap(toStoredTable))
    const columnsByKey = new Map<string, Row[]>()
    for (const row of rows) {
      const key = JSON.stringify([row.child, row.id])
      columnsByKey.set(key, [...(columnsByKey.get(key) ?? []), row])
    }
    referrers = new Map()
    for (const columns of columnsByKey.values()) {
      const [first] = columns as [Row]
      const child = tables.get(foldName(String(first.child)))
      const parent = tables.get(foldName(String(first.parent)))
      if (!child || !parent) continue
      const fields = columns.map(({ field }) => String(field))
      const targetFields = columns.map(({ target }, index) => String(target ?? parent.structure.key[index]))
      const referrer = {
        child,
        fields,
        targetFields,
        onUpdate: String(first.on_update),
        onDelete: String(first.on_delete),
        isIndexed: isServed(child, fields)
      }
      const key = foldName(parent.name)
      referrers.set(key, [...(referrers.get(key) ?? []), referrer])
    }
  }

  const referrersOf = (table: string, changed: ChangedColumns) => {
    const all = referrers.get(foldName(table)) ?? []
    return changed === null
      ? all
      : all.filter(({ targetFields }) => targetFields.some((name) => sameNames(changed, [name])))
  }

  const effectsOf: EffectsOf = (table, structure, changed) => {
    if (referrersOf(table, changed).length === 0) return null
    const rows: [AffectedRows, ...AffectedRows[]] = [toAffectedRows(table, structure)]
    const changes: ChangedColumns[] = [changed]
    const positions = new Map([[JSON.stringify([foldName(table), changed]), 0]])
    const reactions: Reaction[] = []
    const checks: ReferenceCheck[] = []

    const positionOf = ({ name, structure: stored }: StoredTable, columns: ChangedColumns) => {
      const key = JSON.stringify([foldName(name), columns])
      const known = positions.get(key)
      if (known !== undefined) return known
      positions.set(key, rows.length)
      changes.push(columns)
      return rows.push(toAffectedRows(name, stored)) - 1
    }

    // The loop also visits the rows that it adds.
    for (let parent = 0; parent < rows.length; parent += 1) {
      const affected = changes[parent] as ChangedColumns
      for (const { child, fields, targetFields, onUpdate, onDelete, isIndexed } of referrersOf(
        String(rows[parent]?.table),
        affected
      )) {
        checks.push({ parent, child: child.name, fields, isIndexed })
        const columns = changedByAction(affected === null ? onDelete : onUpdate, fields, affected)
        if (columns !== undefined) reactions.push({ parent, child: positionOf(child, columns), fields, targetFields })
      }
    }
    return { rows, reactions, checks }
  }

  return { load, effectsOf }
}
