import type { Structure } from '../model/table.ts'
import { boundedText, type Rows } from './bounded-text.ts'
import { identifier } from './identifiers.ts'
import { isExactly } from './keys.ts'
import { orderBy, pageByScanning, type Selection, selectionWhere, type Window } from './lists.ts'
import type { RecordText } from './record-text.ts'
import type { Statement } from './statement.ts'

/**
 * Where a reader collects the keys of a sorted or filtered export, in order. The prefix keeps it clear of any table.
 */
const COLLECTED = 'temp._rowhouse_keys'

/** Lines of CSV, each with its line end; null without rows. */
const LINES = 'group_concat(value, char(13, 10)) || char(13, 10)'

/** One page; empty without rows. */
export const exportPage = (selection: Selection, csv: RecordText, window: Window): Statement =>
  pageByScanning(selection, csv, window, `coalesce(${LINES}, '')`)

/** Rows of one step of an export; of more than one no more than so many bytes. */
interface Step {
  readonly rows: number
  readonly maxBytes: number
}

const SIZE = ['count(value) AS count', 'sum(value) AS bytes']

/** Beside its `text`, a step gives the `count` of its rows and about how many `bytes` they have, or would have. */
const stepOf = (rows: Rows, csv: RecordText, maxBytes: number, ...beside: readonly string[]) =>
  boundedText(rows, csv, { join: LINES, maxBytes, beside: [...SIZE, ...beside] })

/**
 * The next rows in the order of an integer key, `from` this key on. Gives `last`, the last key as text: it may lie
 * beyond 2^53.
 */
export const exportByKey = (selection: Selection, csv: RecordText, from: bigint, step: Step): Statement => {
  const { table, order } = selection
  const key = identifier(table.structure.key[0] as string)
  const descending = order[0]?.descending === true
  const select = (expression: string) => `SELECT ${expression} AS value, ${key} AS k FROM ${identifier(table.name)}
    WHERE ${key} ${descending ? '<=' : '>='} ? ORDER BY ${orderBy(selection)} LIMIT ?`
  const last = `CAST(${descending ? 'min(k)' : 'max(k)'} AS TEXT) AS last`
  const params = [from, BigInt(step.rows)]
  return stepOf({ select, params }, csv, step.maxBytes, last)
}

/** What tells rows apart while an export walks over them: the rowid, which is never NULL, or the key without one. */
const walkingKey = ({ rowid, key }: Structure) => (rowid === null ? key : [rowid])

const positions = (structure: Structure) => walkingKey(structure).map((_, index) => `k${index}`)

/** Sorts and filters once. Statements for a held reader, in order; the last gives the `count` of rows. */
export const collectKeys = (selection: Selection): readonly Statement[] => {
  const { table, filter } = selection
  const keys = walkingKey(table.structure).map(identifier).join(', ')
  return [
    {
      sql: `CREATE TABLE ${COLLECTED} (position INTEGER PRIMARY KEY, ${positions(table.structure).join(', ')})`,
      params: []
    },
    {
      sql: `INSERT INTO ${COLLECTED} (${positions(table.structure).join(', ')})
        SELECT ${keys} FROM ${identifier(table.name)} ${selectionWhere(selection)} ORDER BY ${orderBy(selection)}`,
      params: filter?.params ?? []
    },
    { sql: `SELECT count(*) AS count FROM ${COLLECTED}`, params: [] }
  ]
}

/** The collected rows after one position; those deleted meanwhile are missing. */
export const exportCollected = ({ table }: Selection, csv: RecordText, after: number, step: Step): Statement => {
  const match = walkingKey(table.structure).map((name, index) => isExactly(name, `_rowhouse_keys.k${index}`))
  const select = (expression: string) =>
    `SELECT (SELECT ${expression} FROM ${identifier(table.name)} WHERE ${match.join(' AND ')}) AS value
      FROM ${COLLECTED} WHERE position > ? AND position <= ? ORDER BY position LIMIT -1`
  const params = [BigInt(after), BigInt(after + step.rows)]
  return stepOf({ select, params }, csv, step.maxBytes)
}
