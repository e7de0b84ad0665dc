import type { SqlValue, Statement } from '../database/database.ts'
import type { Structure } from '../tables/registered-table.ts'
import { identifier } from './identifiers.ts'
import { isExactly } from './keys.ts'
import type { Selection, Window } from './lists.ts'
import { orderBy, selectionWhere } from './lists.ts'

/** Where a reader collects the keys of a sorted or filtered export, in order. The prefix keeps it clear of any table. */
const COLLECTED = 'temp._rowhouse_keys'

/** Lines of CSV as bytes, each with its line end; null without rows. */
const LINES = 'CAST(group_concat(line, char(13, 10)) || char(13, 10) AS BLOB) AS chunk'

/** One page. */
export const exportPage = (selection: Selection, csv: string, { limit, offset }: Window): Statement => {
  const { table, filter } = selection
  const page = `SELECT ${csv} AS line FROM ${identifier(table.name)} ${selectionWhere(selection)} ORDER BY ${orderBy(selection)} LIMIT ? OFFSET ?`
  return { sql: `SELECT ${LINES} FROM (${page})`, params: [...(filter?.params ?? []), BigInt(limit), BigInt(offset)] }
}

/**
 * The next rows in the order of an integer key, `from` this key on. Gives `last`, the last key as text: it may lie
 * beyond 2^53.
 */
export const exportByKey = (selection: Selection, csv: string, from: bigint, limit: number): Statement => {
  const { table, order } = selection
  const key = identifier(table.structure.key[0] as string)
  const descending = order[0]?.descending === true
  const rows = `SELECT ${csv} AS line, ${key} AS k FROM ${identifier(table.name)}
    WHERE ${key} ${descending ? '<=' : '>='} ? ORDER BY ${orderBy(selection)} LIMIT ?`
  const last = descending ? 'min(k)' : 'max(k)'
  return {
    sql: `SELECT ${LINES}, count(*) AS count, CAST(${last} AS TEXT) AS last FROM (${rows})`,
    params: [from, BigInt(limit)]
  }
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

/** The collected rows after one position up to another; those deleted meanwhile are missing. */
export const exportCollected = ({ table }: Selection, csv: string, after: number, upTo: number): Statement => {
  const match = walkingKey(table.structure).map((name, index) => isExactly(name, `_rowhouse_keys.k${index}`))
  const line = `SELECT ${csv} FROM ${identifier(table.name)} WHERE ${match.join(' AND ')}`
  return {
    sql: `SELECT ${LINES} FROM (SELECT (${line}) AS line FROM ${COLLECTED} WHERE position > ? AND position <= ? ORDER BY position)`,
    params: [BigInt(after), BigInt(upTo)] satisfies SqlValue[]
  }
}
