import { kindOf } from '../model/kinds/kind-of.ts'
import type { SqlValue } from '../model/sql-value.ts'
import { type Column, type RegisteredTable, UPDATED_AT } from '../model/table.ts'
import { MAX_BYTES_ON_LOOP } from './bounded-text.ts'
import type { Condition } from './conditions.ts'
import { insertClauses, mustNotAbort, orAbort, orAbortUpdate } from './conflicts.ts'
import type { Dialect } from './dialect.ts'
import { columnRef, type Identifier, identifier } from './identifiers.ts'
import { forEachCollation, isExactly, keyMatch } from './keys.ts'
import type { RecordForm } from './record-text.ts'
import { guardOf } from './selections.ts'
import { createSharedCache, type SharedCache } from './shared-cache.ts'
import { type Param, type RowCondition, type Statement, type Unit, UnitValue } from './statement.ts'
import { toNewValue, uniqueChecks } from './unique-checks.ts'
import { CHANGES, type ResultSql } from './unit-results.ts'
import { storeField, storeValue, type UsedField } from './unit-values.ts'

/** A column and the value that SQLite stores for it. */
export type Assignment = readonly [column: Column, value: SqlValue]

/** A column and what a unit stores for it. */
export type UnitAssignment = readonly [column: Column, value: Param]
/** The entity tags that the record may have before the change. undefined: any. */
export type IfMatch = readonly string[] | undefined

interface RecordUpdate {
  readonly key: readonly Param[]
  readonly assignments: readonly UnitAssignment[]
  /** Read-only fields in the request: the record changes only if they equal the stored values. */
  readonly unchanged: readonly Assignment[]
  /** Epoch milliseconds. */
  readonly now: number
  readonly ifMatch: IfMatch
}

interface IncrementCheck {
  readonly key: readonly SqlValue[]
  readonly column: Column
  readonly count: SqlValue
}

interface RecordIncrement {
  readonly key: readonly Param[]
  readonly column: Column
  readonly count: SqlValue
  /** Epoch milliseconds. */
  readonly now: number
  readonly ifMatch: IfMatch
}

/**
 * What a change returns: `changed` is the record before AFTER triggers and foreign key actions run, by RETURNING
 * (https://sqlite.org/lang_returning.html#limitations_and_caveats). `final` is the record after them, by a second
 * statement.
 */
export type ReturnedState = 'nothing' | 'changed' | 'final'

/**
 * Limits of the cached texts of an access, and of their characters. Each set of fields in a request, and each order of them,
 * has a text of its own.
 */
export type SqlTexts = SharedCache<string>

const TEXT_CACHE = { max: 100, maxSize: 2 ** 18, sizeCalculation: (text: string) => text.length }

/** The text of a record that is too wide to be made on the event loop. A record's JSON is never empty. */
export const TOO_WIDE = ''

export const namesOf = (assignments: readonly UnitAssignment[]) => assignments.map(([{ name }]) => name)
export const valuesOf = (assignments: readonly UnitAssignment[]) => assignments.map(([, value]) => value)

/** `DEFAULT VALUES`, without names, takes no conflict clause at its end. */
export const composeInsert = (table: RegisteredTable, names: readonly string[]) => {
  const into = identifier(table.name)
  if (names.length === 0) return `INSERT${orAbort(table.structure)} INTO ${into} DEFAULT VALUES`
  const values = `(${names.map(identifier).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  return `INSERT${insertClauses(table).before} INTO ${into} ${values}`
}

/**
 * Returns the values of a new record with the parts of its key that are defaults, and the statements that compute these
 * first. SQLite does not return the key of a record without a rowid.
 */
export const withComputedKey = (
  { structure: { rowid, key, columns } }: RegisteredTable,
  assignments: readonly UnitAssignment[]
) => {
  const isMissing = ({ name }: Column) => key.includes(name) && !assignments.some(([column]) => column.name === name)
  const computed = (rowid === null ? columns.filter(isMissing) : []).map((column) => [column, new UnitValue()] as const)
  return {
    before: computed.map(([{ keyDefault = 'NULL' }, value]) => storeValue(value, keyDefault)),
    assignments: computed.length > 0 ? [...assignments, ...computed] : assignments
  }
}

/** Returns the inserted row, as a condition. `assignments`: with all parts of the key of a table without a rowid. */
export const insertedRow = (
  { name: table, structure: { rowid, key } }: RegisteredTable,
  assignments: readonly UnitAssignment[]
): RowCondition => {
  if (rowid !== null) return { where: `${columnRef(table, rowid)} = last_insert_rowid()`, params: [] }
  const partOf = (name: string) => assignments.find(([column]) => column.name === name)?.[1] as Param
  return {
    where: key.map((name) => isExactly(columnRef(table, name), '?')).join(' AND '),
    params: key.flatMap((name) => forEachCollation([partOf(name)]))
  }
}

const META = '_rowhouse_meta'

/** Returns the value of an expression by an UPDATE that changes nothing: a unit gets rows from RETURNING only. */
export const returnValue = (expression: string, alias: string, condition = 'TRUE') =>
  `UPDATE ${identifier(META)} SET "value" = ${columnRef(META, 'value')}
    WHERE ${columnRef(META, 'key')} = 'version' AND ${condition} RETURNING ${expression} AS ${alias}`

/** An expression for the record that the condition matches. `json`: the expression for it. */
export const recordAt = (table: Identifier, json: string, where: string) =>
  `(SELECT ${json} FROM ${table} WHERE ${where})`

/**
 * Returns the `record` as it is at this point of a unit, or no row unless the condition matches one row. `json`: the
 * expression for it. `condition`: another one. Binds the parameters of `where` twice.
 */
export const returnRecord = (table: Identifier, json: string, where: string, condition = 'TRUE') =>
  returnValue(
    recordAt(table, json, where),
    'record',
    `${condition} AND (SELECT count(*) FROM ${table} WHERE ${where}) = 1`
  )

/** Checks that this record is one of `rows`. */
export const checkRow = (
  { name }: Pick<RegisteredTable, 'name'>,
  rows: Condition,
  { where, params }: RowCondition
): Statement<Param> => ({
  sql: `SELECT 1 FROM ${identifier(name)} WHERE (${where}) AND ${rows.sql}`,
  params: [...params, ...rows.params],
  expect: 1,
  isRowCheck: true
})

const sameInJson = ([column, value]: Assignment) => kindOf(column).sameInJson(value)

/** Sets `updated_at`. It always increases, also if the clock stands still or goes back. */
export const timestampUpdate = ({ name, structure }: RegisteredTable) => {
  if (!structure.autoTimestamps) return { sql: '', params: () => [] }
  const sql = `, ${identifier(UPDATED_AT)} = max(?, coalesce(${columnRef(name, UPDATED_AT)}, 0) + 1)`
  return { sql, params: (now: number) => [BigInt(now)] }
}

/** Conditions of an increment. `before`: the stored number, in which NULL counts as 0. */
const incrementOf = (before: string) => ({
  isNumber: `typeof(${before}) IN ('integer', 'real')`,
  /** The sum keeps its type: an integer that overflows would silently become a REAL. Binds `count` three times. */
  sumFits: `${before} + ? BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    AND (typeof(${before} + ?) = 'integer' OR typeof(${before}) = 'real' OR typeof(?) = 'real')`
})

interface StatementOptions {
  readonly dialect: Dialect
  /** The condition of the records that can be read and changed. Its parameters follow those of each key. null: all. */
  readonly rows: Condition | null
  /** The composed texts. Statements of the same records, fields and rules may share them, whatever their values are. */
  readonly texts: SqlTexts
}

export const createSqlTexts = (): SqlTexts => createSharedCache<string>(TEXT_CACHE)

/**
 * The statements for records of a table. `text`: the expression for a record as JSON text. `rows`: the condition of the
 * records that can be read and changed. Its parameters follow those of each key.
 * Texts are composed once: this saves work, and a cache finds the same string object faster.
 */
export const recordStatements = (
  table: RegisteredTable,
  { text: json, width }: RecordForm,
  { dialect, rows, texts }: StatementOptions
) => {
  const cached = (kind: string, names: readonly string[], compose: () => string) => {
    const shape = `${kind}\0${names.join('\0')}`
    const known = texts.get(shape)
    if (known !== undefined) return known
    const text = compose()
    texts.set(shape, text)
    return text
  }

  const name = identifier(table.name)
  const refOf = (column: string) => columnRef(table.name, column)
  const beforeOf = (column: Column) => `coalesce(${refOf(column.name)}, 0)`
  const match = rows ? `${keyMatch(table)} AND ${rows.sql}` : keyMatch(table)
  const updateOf = (changed: readonly string[]) => `UPDATE${orAbortUpdate(table, changed)} ${name}`
  const timestamp = timestampUpdate(table)
  const returning = (sql: string) => `${sql} RETURNING ${json} AS record`
  const removeSql = cached('delete', [], () => `DELETE FROM ${name} WHERE ${match}`)

  /** Checks that a new or changed record is one of `rows`. */
  const rowChecks = (row: () => RowCondition): Unit<Param> => (rows ? [checkRow(table, rows, row())] : [])

  /** For a full scan in a reader thread, if no index serves the key. */
  const guardedMatch = `${guardOf({ table, dialect })} AND ${match}`
  /** Nothing keeps the key of an SQL view unique. */
  const firstRow = table.structure.isView ? ' LIMIT 1' : ''

  const select = (kind: string, expression: string, expressionOnLoop = expression) => {
    const byIndex = cached(`${kind} by index`, [], () => `SELECT ${expressionOnLoop} FROM ${name} WHERE ${match}`)
    const byScan = cached(
      `${kind} by scan`,
      [],
      () => `SELECT ${expression} FROM ${name} WHERE ${guardedMatch}${firstRow}`
    )
    return (key: readonly SqlValue[], isScan = false): Statement => ({ sql: isScan ? byScan : byIndex, params: key })
  }

  const composeWith = (clause: string) => (names: readonly string[]) =>
    composeInsert(table, names) + (names.length === 0 ? '' : clause)

  const composeIgnoring = composeWith(' ON CONFLICT DO NOTHING')
  const composeCreate = composeWith(insertClauses(table).after)

  /** `needsColumn`: an insert without values then sets the rowid to NULL, because DEFAULT VALUES takes no ON CONFLICT. */
  const insertedValues = (assignments: readonly UnitAssignment[], needsColumn: boolean) => {
    const { rowid } = table.structure
    if (needsColumn && assignments.length === 0 && rowid !== null) return { names: [rowid], params: [null] }
    return { names: namesOf(assignments), params: valuesOf(assignments) }
  }

  /**
   * The unit that inserts a record and returns it as JSON text. RETURNING gives the row as it was before AFTER triggers:
   * with triggers the row is read after the insert. `before`: the statements that compute the key. `row`: the condition of the
   * record. `used`: the fields that later statements use.
   */
  const insert = (values: readonly UnitAssignment[], hasTriggers: boolean, used: readonly UsedField[] = []) => {
    const { before, assignments } = withComputedKey(table, values)
    const { names, params } = insertedValues(assignments, mustNotAbort(table))
    const row = () => insertedRow(table, assignments)
    const fields = used.map((field) => storeField(field, table.name, row()))
    if (!hasTriggers) {
      const sql = cached('insert and return', names, () => returning(composeCreate(names)))
      return { before, unit: [{ sql, params, expect: 1 }, ...rowChecks(row), ...fields], row }
    }
    const sql = cached('insert', names, () => composeCreate(names))
    const { where, params: key } = row()
    const returnInserted = cached('inserted', [], () => returnRecord(name, json, where))
    const inserted = { sql: returnInserted, params: [...key, ...key], expect: 1 }
    return { before, unit: [{ sql, params, expect: 1 }, ...rowChecks(row), inserted, ...fields], row }
  }

  /** Like `rowChecks`, right after an insert that may have been ignored. */
  const ignoredOrChecked = (row: () => RowCondition): Unit<Param> =>
    rowChecks(row).map((check) => ({ ...check, sql: `SELECT 1 WHERE ${CHANGES} = 0 OR EXISTS (${check.sql})` }))

  /** The unit that inserts a record and returns it as `insert` does, or returns no row if a unique value is taken. */
  const insertOrIgnore = (values: readonly UnitAssignment[], hasTriggers: boolean) => {
    const { before, assignments } = withComputedKey(table, values)
    const { names, params } = insertedValues(assignments, true)
    const row = () => insertedRow(table, assignments)
    if (!hasTriggers) {
      const sql = cached('insert or ignore and return', names, () => returning(composeIgnoring(names)))
      return { unit: [...before, { sql, params }, ...ignoredOrChecked(row)], row }
    }
    const sql = cached('insert or ignore', names, () => composeIgnoring(names))
    const { where, params: key } = row()
    const returnInserted = cached('not ignored', [], () => returnRecord(name, json, where, `${CHANGES} = 1`))
    return {
      unit: [...before, { sql, params }, ...ignoredOrChecked(row), { sql: returnInserted, params: [...key, ...key] }],
      row
    }
  }

  /** The result with the record at this point of a unit. */
  const recordResult = ({ where, params }: RowCondition): ResultSql => ({
    record: recordAt(name, json, where),
    params
  })

  /** The result of an insert that may have been ignored, right after it. */
  const insertedResult = (row: RowCondition): ResultSql => {
    const { record, params } = recordResult(row)
    return { changes: CHANGES, record: `iif(${CHANGES} = 1, ${record}, NULL)`, params }
  }

  const compared = dialect.comparedText(json)
  const tagMatches = ` AND ${compared} IN (SELECT value FROM temp.json_each(?))`

  const tagged = (condition: string, ifMatch: IfMatch) => (ifMatch ? condition + tagMatches : condition)

  /** Adds to a change the comparison of the entity tag, and the record that it returns. */
  const extended = (change: string, returned: ReturnedState, ifMatch: IfMatch) => {
    const text = tagged(change, ifMatch)
    return returned === 'changed' ? returning(text) : text
  }

  /** The part of a cache key for these extensions. */
  const extensionKey = (returned: ReturnedState, ifMatch: IfMatch) => (ifMatch ? `${returned} tagged` : returned)

  const readCompared = (key: readonly Param[]) => (): Statement<Param> => ({
    sql: `SELECT ${json} AS record, ${compared} AS compared FROM ${name} WHERE ${match}`,
    params: key
  })

  const tagParams = (ifMatch: IfMatch, key: readonly Param[]) =>
    ifMatch ? [dialect.tagsParam(ifMatch, readCompared(key))] : []

  const isUnchanged = (assignment: Assignment) => {
    const isEqual = `${refOf(assignment[0].name)} IS ?`
    return `(${sameInJson(assignment)
      .map(() => isEqual)
      .join(' OR ')})`
  }

  const matchUnchanged = (unchanged: readonly Assignment[]) => [match, ...unchanged.map(isUnchanged)].join(' AND ')

  /** The record with this key after a change, as a condition. `unchanged`: fields of the request that cannot change. */
  const changedRow = (key: readonly Param[], unchanged: readonly Assignment[] = []): RowCondition => {
    // Only an untyped part of a key has several stored values with one text.
    const keyParts = unchanged.filter(([{ isPrimary }]) => isPrimary)
    return { where: matchUnchanged(keyParts), params: [...key, ...keyParts.flatMap(sameInJson)] }
  }

  /** Reads the record with this key after a change. */
  const returnFinal = (key: readonly Param[], unchanged: readonly Assignment[] = []): Statement<Param> => {
    const { where, params } = changedRow(key, unchanged)
    const sql = cached('return', [where], () => returnRecord(name, json, where))
    return { sql, params: [...params, ...params], expect: 1 }
  }

  const composeUpdate = (changed: readonly string[], unchanged: readonly Assignment[]) => {
    const sets = changed.map((column) => `${identifier(column)} = ?`).join(', ')
    return `${updateOf(changed)} SET ${sets}${timestamp.sql} WHERE ${matchUnchanged(unchanged)}`
  }

  const update = (
    { key, assignments, unchanged, now, ifMatch }: RecordUpdate,
    returned: ReturnedState
  ): Unit<Param> => {
    const changed = namesOf(assignments)
    const kind = `update ${changed.length} ${extensionKey(returned, ifMatch)}`
    const sql = cached(kind, [...changed, ...namesOf(unchanged)], () =>
      extended(composeUpdate(changed, unchanged), returned, ifMatch)
    )
    const conditionParams = [...key, ...unchanged.flatMap(sameInJson), ...tagParams(ifMatch, key)]
    const params = [...valuesOf(assignments), ...timestamp.params(now), ...conditionParams]
    const checks = uniqueChecks(table, assignments.map(toNewValue), () => ({
      where: tagged(matchUnchanged(unchanged), ifMatch),
      params: conditionParams
    }))
    const unit = [...checks, { sql, params, expect: 1 }, ...rowChecks(() => changedRow(key, unchanged))]
    return returned === 'final' ? [...unit, returnFinal(key, unchanged)] : unit
  }

  /** Outside STRICT tables, SQLite would also add to text. The conditions prevent this. */
  const matchIncrement = (column: Column) => {
    const { isNumber, sumFits } = incrementOf(beforeOf(column))
    return `${match} AND ${isNumber} AND ${sumFits}`
  }

  const composeIncrement = (column: Column) =>
    `${updateOf([column.name])} SET ${identifier(column.name)} = ${beforeOf(column)} + ?${timestamp.sql}
      WHERE ${matchIncrement(column)}`

  /** Adds to a number. Changes no row if the field holds no number or the sum would not fit. */
  const increment = ({ key, column, count, now, ifMatch }: RecordIncrement, returned: ReturnedState): Unit<Param> => {
    const sql = cached(`increment ${extensionKey(returned, ifMatch)}`, [column.name], () =>
      extended(composeIncrement(column), returned, ifMatch)
    )
    const conditionParams = [...key, count, count, count, ...tagParams(ifMatch, key)]
    const sum = { name: column.name, sql: `${beforeOf(column)} + ?`, param: count }
    const checks = uniqueChecks(table, [sum], () => ({
      where: tagged(matchIncrement(column), ifMatch),
      params: conditionParams
    }))
    const change = { sql, params: [count, ...timestamp.params(now), ...conditionParams], expect: 1 }
    const unit = [...checks, change, ...rowChecks(() => changedRow(key))]
    return returned === 'final' ? [...unit, returnFinal(key)] : unit
  }

  /** RETURNING shows the record as it was. */
  const remove = (key: readonly Param[], returned: 'nothing' | 'changed', ifMatch: IfMatch): Statement<Param> => ({
    sql: cached(`delete ${extensionKey(returned, ifMatch)}`, [], () => extended(removeSql, returned, ifMatch)),
    params: [...key, ...tagParams(ifMatch, key)],
    expect: 1
  })

  /** Selects why an increment changed no row: `number` and `fits` are 0 or 1. */
  const checkIncrement = ({ key, column, count }: IncrementCheck, isScan = false): Statement => {
    const { isNumber, sumFits } = incrementOf(beforeOf(column))
    return {
      sql: `SELECT ${isNumber} AS number, ${sumFits} AS fits FROM ${name} WHERE ${isScan ? guardedMatch : match}`,
      params: [count, count, count, ...key]
    }
  }

  return {
    /** The condition for the record with a key. Its parameters are those of `keyMatch`, then those of `rows`. */
    match,
    /** Selects the `record`. On the event loop it is `TOO_WIDE` if its text would be too long. */
    read: select(
      'read',
      `${json} AS record`,
      `CASE WHEN ${width} <= ${MAX_BYTES_ON_LOOP} THEN ${json} ELSE '${TOO_WIDE}' END AS record`
    ),
    exists: select('find', '1'),
    remove,
    insert,
    insertOrIgnore,
    recordResult,
    insertedResult,
    changedRow,
    update,
    increment,
    checkIncrement
  }
}

export type RecordStatements = ReturnType<typeof recordStatements>
