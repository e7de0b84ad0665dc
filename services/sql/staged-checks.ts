import type { ForeignKey } from '../../schemas/table.ts'
import type { SqlValue } from '../model/sql-value.ts'
import type { UniqueKey } from '../model/unique-key.ts'
import type { Condition } from './conditions.ts'
import { columnRef, identifier } from './identifiers.ts'
import {
  isTaken,
  LINE_COLUMN,
  STAGED_TABLE,
  type StagedColumn,
  sameKey,
  selectStaged,
  staged,
  stagedColumn,
  storedWith
} from './staged.ts'
import type { RowSource, Statement } from './statement.ts'
import { joinTerms } from './terms.ts'
import type { ComputedUniqueIndex } from './unique-indexes.ts'
import { namesOfKey } from './unique-keys.ts'

/**
 * Which staged records are wrong. The part about the file reads only the staging file. The part about stored records reads
 * only the columns of that part, so that both can run in different places.
 */
export interface StagedSelection {
  /** What the condition `stored` reads of a staged record. */
  readonly columns: readonly StagedColumn[]
  /** A condition about the file. */
  readonly inFile: string
  /** A condition that compares a record of the file with the stored ones. null: `inFile` decides. */
  readonly stored: Pick<Condition, 'sql' | 'params'> | null
  /** An aggregate over the wrong records. Absent: their number. */
  readonly total?: string
}

const TABLE = identifier(STAGED_TABLE)
const ALL = 'TRUE'

/** Returns the columns that are read of each record. The last one is the line. */
export const checkedColumns = ({ columns }: StagedSelection): readonly StagedColumn[] => [
  ...columns,
  stagedColumn(LINE_COLUMN)
]

/** Returns the records of the file that match `inFile`. */
export const recordsInFile = (selection: StagedSelection): RowSource => ({
  from: selectStaged(checkedColumns(selection), TABLE, selection.inFile),
  params: []
})

/**
 * Selects the first wrong records by `line`, and their `total`. `max`: the number of lines. `records`: those that match
 * `inFile`, or a part of them.
 */
export const selectWrong = (
  { stored, total = 'count(*)' }: StagedSelection,
  records: RowSource,
  max: number
): Statement => ({
  sql: `SELECT ${staged(LINE_COLUMN)} AS line, ${total} OVER () AS total FROM ${records.from} AS ${TABLE}
    WHERE ${stored?.sql ?? ALL} ORDER BY 1 LIMIT ?`,
  params: [...records.params, ...(stored?.params ?? []), BigInt(max)]
})

/** Returns a selection that compares these fields of all staged records. */
const comparing = (fields: readonly string[], sql: string, params: readonly SqlValue[] = []): StagedSelection => ({
  columns: [...new Set(fields)].map(stagedColumn),
  inFile: ALL,
  stored: { sql, params }
})

const namesOf = (...keys: readonly (UniqueKey | null)[]) => keys.flatMap((key) => (key ? namesOfKey(key) : []))

/** Selects the staged records that conflict with a stored record. `except`: ignores records with the same values in this key. */
export const selectTaken = (table: string, key: UniqueKey, except: UniqueKey | null) =>
  comparing(namesOf(key, except), isTaken(table, key, except))

/**
 * Selects the staged records that a stored record conflicts with in a unique index of expressions. They are computed in the
 * staging file, whose columns have the types and collations of the table.
 */
export const selectTakenInIndex = (
  table: string,
  { terms, condition }: ComputedUniqueIndex,
  except: UniqueKey | null
): StagedSelection => {
  const computed = terms.map((term, index) => ({ name: `_rowhouse_term_${index}`, value: `(${term})` }))
  const isInIndex = condition === null ? ALL : `(${condition})`
  const same = computed.map(({ name, value }) => `${value} = ${staged(name)}`)
  const other = except ? [`(${sameKey(table, except)}) IS NOT TRUE`] : []
  return {
    columns: [...computed, ...namesOf(except).map(stagedColumn)],
    inFile: isInIndex,
    stored: { sql: storedWith(table, [...same, isInIndex, ...other].join(' AND ')), params: [] }
  }
}

/** Selects the staged records that have the key of a stored record. */
export const selectMatching = (table: string, key: UniqueKey) => selectTaken(table, key, null)

/** Selects the staged records that have the key of a stored record which cannot be changed. */
export const selectOutside = (table: string, key: UniqueKey, { sql, params }: Condition) =>
  comparing(namesOfKey(key), storedWith(table, `${sameKey(table, key)} AND (${sql}) IS NOT TRUE`), params)

/** Selects the staged records that change a visible record with other values in these fields of its primary key. */
export const selectOtherKey = (
  table: string,
  { on, rows }: { readonly on: UniqueKey; readonly rows: Condition | null },
  keyFields: readonly string[]
) => {
  const differs = keyFields.map((name) => `${columnRef(table, name)} IS NOT ${staged(name)}`).join(' OR ')
  const isVisible = rows ? ` AND ${rows.sql}` : ''
  const isOther = storedWith(table, `${sameKey(table, on)} AND (${differs})${isVisible}`)
  return comparing([...namesOfKey(on), ...keyFields], isOther, rows?.params)
}

const PARENT = '_rowhouse_parent'

/** `position`: the column by which staged records are stored, if a parent must not come after its child. */
const stagedParent = ({ fields, targetFields }: ForeignKey, position: string | null) => {
  const same = fields.map((field, index) => `${columnRef(PARENT, targetFields[index] as string)} = ${staged(field)}`)
  const order = position === null ? [] : [`${columnRef(PARENT, position)} <= ${staged(position)}`]
  return `EXISTS (SELECT 1 FROM ${TABLE} AS ${identifier(PARENT)} WHERE ${[...same, ...order].join(' AND ')})`
}

/** Selects the staged records whose reference is to no stored record, and to no staged one of the same table. */
export const selectOrphans = (
  key: ForeignKey,
  { isToItself, position }: { readonly isToItself: boolean; readonly position: string | null }
): StagedSelection => {
  const { fields, table, targetFields } = key
  const isSet = fields.map((field) => `${staged(field)} IS NOT NULL`)
  const same = fields.map((field, index) => `${columnRef(table, targetFields[index] as string)} = ${staged(field)}`)
  const hasNoParent = isToItself ? [`NOT ${stagedParent(key, position)}`] : []
  return {
    columns: fields.map(stagedColumn),
    inFile: [...isSet, ...hasNoParent].join(' AND '),
    stored: { sql: `NOT ${storedWith(table, same.join(' AND '))}`, params: [] }
  }
}

/** Returns the bytes of the texts in these fields of a staged record. */
const textBytes = (fields: readonly string[]) =>
  joinTerms(
    ['0', ...fields.map((name) => `iif(typeof(${staged(name)}) = 'text', octet_length(${staged(name)}), 0)`)],
    '+'
  )

const BYTES_COLUMN = '_rowhouse_bytes'

/** Selects all staged records. The total is the bytes of the texts in these fields. */
export const selectTextBytes = (fields: readonly string[]): StagedSelection => ({
  columns: [{ name: BYTES_COLUMN, value: textBytes(fields) }],
  inFile: ALL,
  stored: null,
  total: `total(${staged(BYTES_COLUMN)})`
})

/** Selects the staged records that have more bytes of text in these fields. */
export const selectLongTexts = (fields: readonly string[], maxBytes: number): StagedSelection => ({
  columns: [],
  inFile: `${textBytes(fields)} > ${maxBytes}`,
  stored: null
})
