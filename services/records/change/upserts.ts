import type { RecordBody } from '../../../schemas/record.ts'
import { type Database, UnexpectedChanges, type WriteResult } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { invalid, pointer } from '../../model/errors.ts'
import type { Column, RegisteredTable } from '../../model/table.ts'
import type { UniqueKey } from '../../model/unique-key.ts'
import { mustNotAbort } from '../../sql/conflicts.ts'
import type { UnitAssignment } from '../../sql/records.ts'
import { isValue, type Param, type Statement } from '../../sql/statement.ts'
import { hasKey, namesOfKey, selectUniqueIndexes, toUniqueKeys } from '../../sql/unique-keys.ts'
import type { UsedField } from '../../sql/unit-values.ts'
import { selectUpserted, upsertStatements } from '../../sql/upserts.ts'
import { assertTable } from '../../tables/assert-table.ts'
import type { Access } from '../access/access.ts'
import { findUniqueKey, type RequestedKey } from '../access/unique-keys.ts'
import { alreadyExists, deletedByTrigger, ignoredByTrigger, otherKeyExists, valueTaken } from '../failures.ts'
import { readNewRecord } from './input.ts'
import { explainWithRowCheck, final, type Operation } from './operation.ts'
import { createViolations } from './violations.ts'

export interface UpsertInput {
  /** The fields that identify the record. */
  readonly key: UniqueKey
  readonly values: RecordBody
  /** Fails if the record exists. */
  readonly onlyCreates?: boolean
  /** The fields that later operations of the batch use. */
  readonly used?: readonly UsedField[] | undefined
}

export interface Upserted {
  readonly created: boolean
  /** JSON text. */
  readonly record: string
}

interface UpsertsOptions {
  readonly db: Database
  readonly clock: Clock
  readonly hasTriggers: (table: RegisteredTable) => boolean
  readonly hasUpdateEffects: (table: RegisteredTable) => boolean
}

const columnsOf = (assignments: readonly UnitAssignment[]) => assignments.map(([column]) => column)

const sentValue = (name: string, assignments: readonly UnitAssignment[]) =>
  assignments.find(([column]) => column.name === name)?.[1] as Param

/** @throws VALIDATION_FAILED for a field of the key that is not sent */
const requireKey = (key: UniqueKey, sent: readonly UnitAssignment[]) => {
  const missing = namesOfKey(key).filter((name) => !sent.some(([column]) => column.name === name))
  if (missing.length === 0) return
  throw invalid(
    missing.map((name) => ({ path: pointer(name), code: 'required', message: `'${name}' identifies the record.` }))
  )
}

/**
 * Returns the columns of the record that an upsert returns. The record may have existed: a caller without the right to read
 * it gets its key and the sent fields only.
 */
export const upsertedColumns = (caller: Caller, { table, columns }: Access, values: RecordBody): readonly Column[] => {
  const all = [...columns.values()]
  if (caller.mayRead(table.name)) return all
  return all.filter(({ name, isPrimary }) => isPrimary || Object.hasOwn(values, name))
}

/** Creates the function that turns an access and an input into an upsert: one statement creates or updates a record. */
export const createUpserts = ({ db, clock, hasTriggers, hasUpdateEffects }: UpsertsOptions) => {
  const explainViolation = createViolations(db)
  /** A registered table is replaced when the stored one changes or another program commits. */
  const keysByTable = new WeakMap<RegisteredTable, readonly UniqueKey[]>()

  const uniqueKeysOf = async (table: RegisteredTable) => {
    const cached = keysByTable.get(table)
    if (cached) return cached
    const [row] = await db.read(selectUniqueIndexes(table.name))
    const keys = toUniqueKeys(table, row)
    keysByTable.set(table, keys)
    return keys
  }

  /** Returns the unique key with these fields, in any order. @throws TABLE_READ_ONLY, VALIDATION_FAILED */
  const findKey = async (access: Access, requested: RequestedKey): Promise<UniqueKey> => {
    assertTable(access.table)
    return findUniqueKey(access, await uniqueKeysOf(access.table), requested)
  }

  /** @throws VALIDATION_FAILED, CONSTRAINT_VIOLATION */
  const upsertOp = (caller: Caller, access: Access, { key, values, ...options }: UpsertInput): Operation<Upserted> => {
    const { table } = access
    const now = clock()
    const assignments = readNewRecord(access, values, now)
    requireKey(key, assignments)
    const shown = upsertedColumns(caller, access, values)
    const sent = assignments.filter(([column]) => access.writable.has(column))
    const others = sent.filter(([{ name }]) => !namesOfKey(key).includes(name))
    // NULL means that SQLite generates the key of a new record.
    const unchanged = columnsOf(others.filter(([{ isPrimary }, value]) => isPrimary && value !== null))
    const changed = columnsOf(others.filter(([{ isPrimary }]) => !isPrimary))
    const upsert = {
      table,
      assignments,
      key,
      changed,
      unchanged,
      rows: access.rows,
      json: (shown.length === access.columns.size ? access.all : access.project(shown, [])).json.text,
      onlyCreates: options.onlyCreates ?? false,
      hasEffects: hasTriggers(table) || hasUpdateEffects(table),
      now
    }
    const { before, unit, receipt } = upsertStatements(upsert, options.used)
    /** Whether the record exists: not if a value that an earlier operation of the batch stores is in its key. */
    const exists = async ({ sql, params }: Statement<Param>) =>
      params.every(isValue) && (await db.read({ sql, params })).length > 0
    const ignored = async () => {
      if ((mustNotAbort(table) || upsert.rows) && !(await exists(selectUpserted(upsert)))) return valueTaken()
      if (options.onlyCreates) return alreadyExists(namesOfKey(key))
      if (unchanged.length > 0) return otherKeyExists(unchanged.map(({ name }) => name))
      return ignoredByTrigger()
    }
    const isCreated = (results: readonly WriteResult[]) => results[0]?.rows.length === 0
    return {
      table,
      unit: [...before, ...unit],
      change: {
        kind: 'upsert',
        rows: {
          access,
          columns: changed.map(({ name }) => name),
          where: hasKey(table.name, key, () => '?'),
          params: namesOfKey(key).map((name) => sentValue(name, assignments))
        }
      },
      countChange: (results) => (isCreated(results) ? 1 : 0),
      result: (results) => ({
        created: isCreated(results),
        record: String(results.findLast(({ rows }) => typeof rows[0]?.record === 'string')?.rows[0]?.record)
      }),
      receipt,
      // Without the right to read, the result has no values but those of the request and the key.
      shown: caller.mayRead(table.name) ? access.columns : null,
      explain: explainWithRowCheck([...before, ...unit], async (_caller, { error, statement }) => {
        if (!(error instanceof UnexpectedChanges)) {
          return final(await explainViolation(caller, error, { access, sent: assignments }))
        }
        return final(statement === before.length ? await ignored() : deletedByTrigger())
      })
    }
  }

  return { findKey, upsertOp }
}
