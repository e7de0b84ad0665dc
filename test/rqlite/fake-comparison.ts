import type { Database as Connection } from 'better-sqlite3'

const NAMES = `SELECT name FROM pragma_table_list
  WHERE schema = 'main' AND type IN ('table', 'shadow') AND name NOT LIKE 'sqlite_stat%' AND name <> 'sqlite_schema'
  ORDER BY name`

const DECLARATIONS = `SELECT type, name, tbl_name, sql FROM sqlite_schema
  WHERE tbl_name NOT LIKE 'sqlite_stat%' ORDER BY type, name`

/** Integers, doubles, texts and bytes stay apart. */
const toText = (value: unknown) => {
  if (typeof value === 'bigint') return `${value}`
  if (typeof value === 'number') return `${Object.is(value, -0) ? '-0' : value}.`
  return Buffer.isBuffer(value) ? `x'${value.toString('hex')}'` : JSON.stringify(value)
}

const rowsOf = (db: Connection, sql: string) => {
  const rows = db.prepare(sql).safeIntegers().raw().all() as unknown[][]
  return rows.map((row) => row.map(toText).join(', '))
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

const firstDifference = (label: string, first: readonly string[], second: readonly string[]) => {
  const count = Math.max(first.length, second.length)
  for (let i = 0; i < count; i++) {
    if (first[i] !== second[i]) return [`${label}: (${first[i] ?? ''}) on node 1, (${second[i] ?? ''}) on node 2`]
  }
  return []
}

const STORED_COLUMNS = 'SELECT name FROM pragma_table_xinfo(?) WHERE hidden IN (0, 3)'

/**
 * The record of FTS5 that has the counters of its segments. FTS5 counts deleted entries in memory and stores the number later,
 * so a node that has read the record again has a lower number. It decides only when segments are merged.
 */
const SEGMENT_COUNTERS = 10

const isSearchData = (name: string) => /^_rowhouse_search_\d+_data$/.test(name)

/** A generated column that is not stored may fail when it is read. */
const contentOf = (db: Connection, name: string) => {
  const columns = db.prepare(STORED_COLUMNS).pluck().all(name) as string[]
  const where = isSearchData(name) ? `WHERE id <> ${SEGMENT_COUNTERS}` : ''
  return rowsOf(db, `SELECT ${columns.map(quoted).join(', ')} FROM ${quoted(name)} ${where}`).sort()
}

/** Returns the first difference of each table, and of the declarations. The order of rows does not count. */
export const differencesOf = (first: Connection, second: Connection) => {
  const names = [first, second].flatMap((db) => db.prepare(NAMES).pluck().all() as string[])
  const shared = [...new Set(names)].filter((name) => names.filter((other) => other === name).length === 2)
  const declarations = firstDifference('declarations', rowsOf(first, DECLARATIONS), rowsOf(second, DECLARATIONS))
  const rows = shared.flatMap((name) => {
    const [one = [], two = []] = [first, second].map((db) => contentOf(db, name))
    return firstDifference(name, one, two)
  })
  return [...declarations, ...rows]
}
