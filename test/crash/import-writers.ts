import { RECORDS, readFile, readRecord, textOf } from './access.ts'
import { firstId, IMPORT_PATH, IMPORTED, keyOfFile, numberOfFile, ROWS_OF_FILE } from './files.ts'
import { groupOf, IMPORTS, keysOfGroup, type Ledger } from './ledger.ts'
import { batch, removeAll, type Write } from './writes.ts'

type Mode = 'insert' | 'upsert'
type Rows = readonly Record<string, string | number>[]

/** Maximum number of groups of small imports. */
const MAX_GROUPS = 4
/** Imports of a large file before its records are deleted. */
const IMPORTS_OF_FILE = 3

const toCell = (value: string | number) => (typeof value === 'number' ? value : `"${value}"`)

const toCsv = (rows: Rows) => {
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row).map(toCell))]
  return lines.map((cells) => `${cells.join()}\n`).join('')
}

const toNdjson = (rows: Rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

const asCsv = (rows: Rows) => ({ body: toCsv(rows), headers: { 'content-type': 'text/csv' } })
const asNdjson = (rows: Rows) => ({ body: toNdjson(rows), headers: { 'content-type': 'application/x-ndjson' } })

/** Creates or changes all records of a group. They get one value. */
const importGroup = (group: string, mode: Mode, value: number): Write => {
  const keys = keysOfGroup(group)
  const created = mode === 'insert' ? { counter: 0 } : {}
  const rows = keys.map((key) => ({ key, value, text: textOf(value), ...created }))
  const file = value % 2 === 0 ? asCsv(rows) : asNdjson(rows)
  const changes = keys.map((key) => ({ key, change: { value } }))
  return { method: 'POST', path: `/data/${RECORDS}/import?mode=${mode}`, ...file, changes }
}

/** A client whose imports are stored in one transaction: all records or none. No other client imports with the token. */
export const createSmallImporter = (ledger: Ledger) => {
  const groups = new Set(ledger.certain().flatMap((key) => groupOf(key, IMPORTS) ?? []))

  const plan = (): Write => {
    const value = ledger.next()
    const [group] = groups
    if (group === undefined || groups.size < MAX_GROUPS) return importGroup(`${IMPORTS}g${value}`, 'insert', value)
    return value % 2 === 0 ? importGroup(group, 'upsert', value) : removeAll(keysOfGroup(group))
  }

  const updateKeys = (key: string) => {
    const group = groupOf(key, IMPORTS)
    if (group === undefined) return
    groups.delete(group)
    if (ledger.isCertain(key)) groups.add(group)
  }
  return { plan, updateKeys, owns: () => true, read: readRecord }
}

const importFile = (key: string, mode: Mode, value: number, missing: number): Write => {
  const file = numberOfFile(key)
  const rows = Array.from({ length: ROWS_OF_FILE }, (_, number) => ({ id: firstId(file) + number, file, value }))
  const created = mode === 'insert' ? [{ key, change: { value: 1 } }] : []
  const changes = [...created, { key, change: { add: missing } }]
  return { method: 'POST', path: `${IMPORT_PATH}?mode=${mode}`, ...asCsv(rows), changes }
}

const removeFile = (key: string) => {
  const start = firstId(numberOfFile(key))
  const filter = { where: { id: { gte: start, lt: start + ROWS_OF_FILE } } }
  const operation = { op: 'delete', table: IMPORTED, filter, maxAffected: ROWS_OF_FILE }
  return batch([operation], [{ key, change: { value: null } }])
}

/**
 * An administrator whose imports are stored in several steps. After a crash, the first records may be stored: then the
 * import is repeated, which stores the others.
 */
export const createLargeImporter = (ledger: Ledger) => {
  const files = new Set(ledger.certain().filter((key) => /^file\d+$/.test(key)))

  const plan = (): Write => {
    const [key] = files
    if (key === undefined) return importFile(keyOfFile(ledger.next()), 'insert', 1, ROWS_OF_FILE)
    const counter = ledger.counterOf(key)
    const stored = counter % ROWS_OF_FILE
    if (stored === 0 && counter >= IMPORTS_OF_FILE * ROWS_OF_FILE) return removeFile(key)
    return importFile(key, 'upsert', Math.floor(counter / ROWS_OF_FILE) + 1, ROWS_OF_FILE - stored)
  }

  const updateKeys = (key: string) => {
    if (ledger.isCertain(key)) files.add(key)
    else files.delete(key)
  }
  return { plan, updateKeys, owns: () => true, read: readFile }
}
