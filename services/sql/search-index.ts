import { kindOf } from '../model/kinds/kind-of.ts'
import { INT64 } from '../model/literals.ts'
import type { BuildProgress, Structure } from '../model/table.ts'
import { columnRef, identifier } from './identifiers.ts'
import { isRowidName, ROWID_NAMES } from './introspection.ts'
import { type Statement, statement, type Unit } from './statement.ts'
import { joinTerms } from './terms.ts'

/** A table with the columns whose texts its search index has. */
export interface IndexedTable {
  readonly id: number
  readonly name: string
  /** The column that is the rowid. */
  readonly key: string
  readonly columns: readonly string[]
  /** An UPDATE of other columns changes a generated one. */
  readonly hasGenerated: boolean
}

/**
 * Whether the rowid is a column of the table: VACUUM can change other rowids. A table without a declared key has a name of
 * its rowid as the key.
 */
export const hasStableRowids = ({ isRowidKey, key }: Structure) => isRowidKey && !key.some(isRowidName)

/** Returns null for a table that cannot have a search index. */
export const indexedTable = (id: number, name: string, structure: Structure): IndexedTable | null => {
  const textual = structure.columns.filter((column) => kindOf(column).isTextual)
  if (!hasStableRowids(structure) || textual.length === 0) return null
  return {
    id,
    name,
    key: String(structure.key[0]),
    columns: textual.map((column) => column.name),
    hasGenerated: textual.some(({ isGenerated }) => isGenerated)
  }
}

const PREFIX = '_rowhouse_search_'
const TRIGGERS = ['insert', 'delete', 'update'] as const

const searchIndexName = (id: number) => `${PREFIX}${id}`
const triggerName = (id: number, event: (typeof TRIGGERS)[number]) => `${searchIndexName(id)}_${event}`

/** A condition on triggers in `sqlite_schema`. Those of search indexes do not change any table that is served. */
export const IS_SEARCH_TRIGGER = `(name GLOB '${PREFIX}*')`

const namesOf = ({ columns }: IndexedTable) => columns.map((_, index) => `c${index}`)

/** BLOBs never match a search. */
const textsIn = (row: (column: string) => string, { columns }: IndexedTable) =>
  columns.map((name) => `iif(typeof(${row(name)}) = 'blob', NULL, ${row(name)})`)

const target = (table: IndexedTable) =>
  `INTO ${identifier(searchIndexName(table.id))}(rowid, ${namesOf(table).join(', ')})`

const deleteRow = ({ id, key }: IndexedTable, row: 'old' | 'new') =>
  `DELETE FROM ${identifier(searchIndexName(id))} WHERE rowid = ${row}.${identifier(key)};`

const selectTexts = (table: IndexedTable) => {
  const column = (name: string) => columnRef(table.name, name)
  return `SELECT ${[column(table.key), ...textsIn(column, table)].join(', ')} FROM ${identifier(table.name)}`
}

/**
 * Reads the stored row: another trigger may have changed it before this one runs. Without OR REPLACE: in a trigger, SQLite
 * applies the conflict clause of the statement that fires it.
 */
const replaceNew = (table: IndexedTable) => {
  const { name, key } = table
  const where = `WHERE ${columnRef(name, key)} = new.${identifier(key)}`
  return `${deleteRow(table, 'new')} INSERT ${target(table)} ${selectTexts(table)} ${where};`
}

/**
 * Returns the declarations of the index and of its triggers, as `sqlite_schema` has them.
 *
 * The index has no content, so a delete needs no old values, and the delete of a row that is not indexed does nothing.
 * The triggers are therefore right during a build, too. `detail=none`: an index of a third of the size, built in half of
 * the time. A program that replaces rows without delete triggers leaves entries of rows that do not exist.
 */
export const declarationsOf = (table: IndexedTable): readonly string[] => {
  const { id, name, key, columns, hasGenerated } = table
  // SQLite compares the names of an UPDATE, and the key has several.
  const changed = hasGenerated ? '' : ` OF ${[key, ...ROWID_NAMES, ...columns].map(identifier).join(', ')}`
  const trigger = (event: (typeof TRIGGERS)[number], when: string, body: string) =>
    `CREATE TRIGGER ${identifier(triggerName(id, event))} AFTER ${when} ON ${identifier(name)} BEGIN ${body} END`
  return [
    `CREATE VIRTUAL TABLE ${identifier(searchIndexName(id))} USING fts5(${namesOf(table).join(', ')}, content='', contentless_delete=1, tokenize='trigram', detail='none')`,
    trigger('insert', 'INSERT', replaceNew(table)),
    trigger('delete', 'DELETE', deleteRow(table, 'old')),
    trigger('update', `UPDATE${changed}`, `${deleteRow(table, 'old')} ${replaceNew(table)}`)
  ]
}

const PROGRESS_PREFIX = 'search_index_'
const progressKey = (id: number) => `${PROGRESS_PREFIX}${id}`

/** Removes the index, its triggers and its progress, if they exist. */
export const dropSearchIndex = (id: number): Unit => [
  ...TRIGGERS.map((event) => statement(`DROP TRIGGER IF EXISTS ${identifier(triggerName(id, event))}`)),
  statement(`DROP TABLE IF EXISTS ${identifier(searchIndexName(id))}`),
  statement('DELETE FROM _rowhouse_meta WHERE key = ?', [progressKey(id)])
]

/** Bytes of a page of the index. A write merges up to 64 of them at once: with 4,050 bytes that took 3 times as long. */
const PAGE_SIZE = 1000

/** Creates an empty index and its triggers. */
export const createSearchIndex = (table: IndexedTable, progress: BuildProgress): Unit => {
  const name = identifier(searchIndexName(table.id))
  return [
    ...declarationsOf(table).map((sql) => statement(sql)),
    statement(`INSERT INTO ${name}(${name}, rank) VALUES ('pgsz', ${PAGE_SIZE})`),
    statement('INSERT INTO _rowhouse_meta VALUES (?, ?)', [progressKey(table.id), JSON.stringify(progress)])
  ]
}

/** Fails with `UnexpectedChanges` if the progress is not `before`. */
export const advance = (id: number, before: BuildProgress, after: BuildProgress): Statement => ({
  sql: 'UPDATE _rowhouse_meta SET value = ? WHERE key = ? AND value = ?',
  params: [JSON.stringify(after), progressKey(id), JSON.stringify(before)],
  expect: 1
})

/** Limits of a step of a build. Other writes wait for a step. */
const MAX_STEP_ROWS = 250
const MAX_STEP_BYTES = 64 * 1024

const firstKey = ({ after }: BuildProgress) => (after === null ? INT64.first : BigInt(after) + 1n)

/** Selects the `last` key of the next step, as text, and its number of `rows`. A step has at least one row, if any is left. */
export const selectStep = ({ name, key, columns }: IndexedTable, progress: BuildProgress): Statement => {
  const rowid = columnRef(name, key)
  const widths = columns.map((column) => `ifnull(octet_length(${columnRef(name, column)}), 0)`)
  return statement(
    `SELECT CAST(max(key) AS TEXT) AS last, count(*) AS rows FROM (
      SELECT key, sum(width) OVER (ORDER BY key) - width AS before FROM (
        SELECT ${rowid} AS key, ${joinTerms(widths, '+')} AS width FROM ${identifier(name)}
        WHERE ${rowid} >= ? ORDER BY ${rowid} LIMIT ${MAX_STEP_ROWS}))
    WHERE before < ${MAX_STEP_BYTES}`,
    [firstKey(progress)]
  )
}

/** Indexes the rows of a step. */
export const indexStep = (table: IndexedTable, progress: BuildProgress, last: string): Statement =>
  statement(
    `INSERT OR REPLACE ${target(table)} ${selectTexts(table)} WHERE ${columnRef(table.name, table.key)} BETWEEN ? AND ?
      ORDER BY ${columnRef(table.name, table.key)}`,
    [firstKey(progress), BigInt(last)]
  )

/**
 * Returns SQL for the columns `search_progress` and `search_declarations` of a registration; null without a search index.
 * `id`: an expression for the id of the table.
 */
export const searchIndexFacts = (id: string) => {
  const progress = `(SELECT value FROM _rowhouse_meta WHERE key = '${PROGRESS_PREFIX}' || ${id})`
  const names = ['', ...TRIGGERS.map((event) => `_${event}`)].map((end) => `'${PREFIX}' || ${id} || '${end}'`)
  return `${progress} AS search_progress, CASE WHEN ${progress} IS NOT NULL THEN (
    SELECT json_group_array(sql) FROM main.sqlite_schema WHERE name IN (${names.join(', ')})) END AS search_declarations`
}

/** Returns a condition that is true for all rows whose texts have these trigrams, and maybe for others. Binds the match. */
export const isCandidate = (id: number, rowid: string) => {
  const name = identifier(searchIndexName(id))
  return `${rowid} IN (SELECT rowid FROM ${name} WHERE ${name} MATCH ?)`
}

/**
 * Selects `rows`, the number of candidates up to a maximum, and `declared`: how many of the declarations the file has now.
 */
export const countCandidates = (id: number, match: string, max: number, declarations: readonly string[]): Statement => {
  const name = identifier(searchIndexName(id))
  return statement(
    `SELECT (SELECT count(*) FROM (SELECT 1 FROM ${name} WHERE ${name} MATCH ? LIMIT ?)) AS rows,
      (SELECT count(*) FROM main.sqlite_schema WHERE sql IN (SELECT value FROM temp.json_each(?))) AS declared`,
    [match, BigInt(max), JSON.stringify(declarations)]
  )
}
