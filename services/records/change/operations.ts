import type { Increment, RecordBody } from '../../../schemas/record.ts'
import { type Database, UnexpectedChanges, type WriteResult } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { hasCode } from '../../model/errors.ts'
import { recordTag } from '../../model/record-tag.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { mustNotAbort } from '../../sql/conflicts.ts'
import { type IfMatch, namesOf, type ReturnedState } from '../../sql/records.ts'
import type { Param, RowCondition } from '../../sql/statement.ts'
import type { UsedField } from '../../sql/unit-values.ts'
import { assertTable } from '../../tables/assert-table.ts'
import type { Access } from '../access/access.ts'
import { bodyKeyText } from '../access/body-keys.ts'
import { keyParams, type RecordKey, readKey } from '../access/keys.ts'
import { ResultReference } from '../access/result-reference.ts'
import {
  ambiguousKey,
  changedConcurrently,
  changeOfResult,
  deletedByTrigger,
  ignoredByTrigger,
  notANumber,
  notComparable,
  overflow,
  preconditionFailed,
  recordNotFound,
  stillReferenced,
  UPSERT_HINT,
  valueTaken
} from '../failures.ts'
import type { Planner } from '../read/planner.ts'
import type { Read } from '../read/read.ts'
import { incrementableColumn, readCount } from './increments.ts'
import { readChanges, readNewRecord, refuseChanged } from './input.ts'
import {
  type ChangedRows,
  changeOf,
  type Diagnosis,
  explainAfterCheck,
  explainWithRowCheck,
  final,
  type Operation,
  type OperationFailure,
  type RecordChange
} from './operation.ts'
import { createViolations, type FailedWrite } from './violations.ts'

export interface ChangeOptions {
  /** The result of the operation is the record as JSON text. Otherwise it is undefined. */
  readonly returnsRecord?: boolean
  /**
   * The strong entity tags of `If-Match`, with their quotes: the record must have one of them before the change, as the
   * caller sees it. Without tags no record matches. undefined: every record matches.
   */
  readonly ifMatch?: IfMatch
}

interface OperationOptions {
  readonly db: Database
  readonly clock: Clock
  readonly planner: Planner
  readonly read: Read
  readonly hasTriggers: (table: RegisteredTable) => boolean
  /** Whether triggers or foreign key actions may change a record after an update of it. */
  readonly hasUpdateEffects: (table: RegisteredTable) => boolean
}

/** Returns the record if a statement of the operation returns it. */
const returnedRecord = (results: readonly WriteResult[]) => {
  const records = results.flatMap(({ rows }) => rows.map(({ record }) => record))
  return records.find((record) => typeof record === 'string')
}

const shownBy = (access: Access, { returnsRecord = false }: ChangeOptions) => (returnsRecord ? access.columns : null)

/** Returns the key of the record that an operation changes. @throws PATH_TOO_LONG, RECORD_NOT_FOUND, VALIDATION_FAILED */
const readPk = (access: Access, pk: unknown): RecordKey =>
  readKey(access, pk instanceof ResultReference ? pk : bodyKeyText(access, pk))

const CREATE: RecordChange = { kind: 'create' }

const changeOfRecord = (access: Access, params: readonly Param[], columns: ChangedRows['columns']) =>
  changeOf({ access, columns, where: access.statements.match, params })

/** Returns the record at this point of the unit, if the operation returns it. */
const recordResults = ({ statements }: Access, row: RowCondition, { returnsRecord = false }: ChangeOptions) =>
  returnsRecord ? [statements.recordResult(row)] : []

/** The record of an operation, and the tags that it may have. */
interface MatchedRecord {
  /** null: an earlier operation of the batch returns the key. */
  readonly pk: string | null
  readonly ifMatch: IfMatch
}

/** Creates the functions that turn an access and an input into an operation. They check the input and run nothing. */
export const createOperations = ({ db, clock, planner, read, hasTriggers, hasUpdateEffects }: OperationOptions) => {
  const explainViolation = createViolations(db)

  const returnedBy = ({ table }: Access, { returnsRecord = false }: ChangeOptions): ReturnedState => {
    if (!returnsRecord) return 'nothing'
    return hasUpdateEffects(table) ? 'final' : 'changed'
  }

  const ignored = (table: RegisteredTable) => (hasTriggers(table) ? ignoredByTrigger() : changedConcurrently())

  /** Returns the number of records with this key: more than one if keys of several types have the same text. */
  const countByKey = async (caller: Caller, access: Access, pk: string) => {
    const { read: readStatement, exists } = access.statements
    const key = keyParams(access, pk)
    const isBounded = await planner.usesIndex(access, readStatement(key))
    const rows = await (isBounded ? db.read(exists(key)) : db.scan(exists(key, true), caller))
    return rows.length
  }

  /** @throws PRECONDITION_FAILED if the record may not be compared */
  const assertComparable = ({ mayCompare }: Access, ifMatch: IfMatch) => {
    if (ifMatch && !mayCompare) throw notComparable()
  }

  /** Returns the error if the record does not have one of the tags. The tag of a record reveals what it contains. */
  const findMismatch = async (caller: Caller, access: Access, pk: string, ifMatch: IfMatch) => {
    if (!ifMatch) return null
    const etag = recordTag(await read(caller, access, pk))
    if (ifMatch.includes(etag)) return null
    // By its role, a token may be able to change a record that it cannot read.
    const maySee = !caller.role && caller.mayRead(access.table.name)
    return preconditionFailed(pk, maySee ? etag : undefined)
  }

  /**
   * Explains a unit that must change one row, and may return it in a second statement. `reason`: the error if it changed
   * none although the record exists.
   */
  const explainRowChange =
    (write: FailedWrite, { pk, ifMatch }: MatchedRecord, reason: (caller: Caller) => Error | Promise<Error>) =>
    async (caller: Caller, { error, statement }: OperationFailure): Promise<Diagnosis> => {
      const { access } = write
      if (!(error instanceof UnexpectedChanges)) return final(await explainViolation(caller, error, write))
      if (pk === null) return final(changeOfResult())
      const found = await countByKey(caller, access, pk)
      if (found > 1) return final(ambiguousKey(pk))
      if (statement !== 0) return final(deletedByTrigger())
      if (found === 0) return final(recordNotFound(pk, write.sent && UPSERT_HINT))
      const mismatch = await findMismatch(caller, access, pk, ifMatch)
      if (mismatch) return final(mismatch)
      return { mayRetry: true, error: () => reason(caller) }
    }

  /** The result is the created record as JSON text. @throws TABLE_READ_ONLY, VALIDATION_FAILED, CONSTRAINT_VIOLATION */
  const createOp = (access: Access, body: RecordBody, used?: readonly UsedField[]): Operation<string> => {
    assertTable(access.table)
    const sent = readNewRecord(access, body, clock())
    const { insert, recordResult } = access.statements
    const { before, unit, row } = insert(sent, hasTriggers(access.table), used)
    return {
      table: access.table,
      unit: [...before, ...unit],
      change: CREATE,
      countChange: () => 1,
      result: (results) => String(returnedRecord(results)),
      receipt: () => ({ after: [recordResult(row())] }),
      shown: access.columns,
      explain: explainWithRowCheck([...before, ...unit], async (caller, { error, statement }) => {
        if (!(error instanceof UnexpectedChanges)) return final(await explainViolation(caller, error, { access, sent }))
        if (statement !== before.length) return final(deletedByTrigger())
        return final(mustNotAbort(access.table) ? valueTaken() : ignoredByTrigger())
      })
    }
  }

  /**
   * The result is the created record as JSON text, or null if a unique value is taken.
   * @throws TABLE_READ_ONLY, VALIDATION_FAILED, CONSTRAINT_VIOLATION
   */
  const createOrIgnoreOp = (access: Access, body: RecordBody): Operation<string | null> => {
    assertTable(access.table)
    const sent = readNewRecord(access, body, clock())
    const { insertOrIgnore, insertedResult } = access.statements
    const { unit, row } = insertOrIgnore(sent, hasTriggers(access.table))
    const recordIn = (results: readonly WriteResult[]) => returnedRecord(results) ?? null
    return {
      table: access.table,
      unit,
      change: CREATE,
      countChange: (results) => (recordIn(results) === null ? 0 : 1),
      result: recordIn,
      receipt: () => ({ after: [insertedResult(row())] }),
      shown: access.columns,
      explain: explainWithRowCheck(unit, async (caller, { error }) =>
        final(await explainViolation(caller, error, { access, sent }))
      )
    }
  }

  /** @throws TABLE_READ_ONLY, VALIDATION_FAILED, RECORD_NOT_FOUND for a text that cannot be a key of the table */
  const updateOp = (
    access: Access,
    pk: unknown,
    body: RecordBody,
    options: ChangeOptions = {}
  ): Operation<string | undefined> => {
    assertTable(access.table)
    const { ifMatch } = options
    const key = readPk(access, pk)
    assertComparable(access, ifMatch)
    const { assignments, unchanged } = readChanges(access, key.text, body)
    const reason = () => (unchanged.length > 0 ? refuseChanged(unchanged) : ignored(access.table))
    const changes = { key: key.params, assignments, unchanged, now: clock(), ifMatch }
    const unit = access.statements.update(changes, returnedBy(access, options))
    const explain = explainRowChange({ access, sent: assignments }, { pk: key.text, ifMatch }, reason)
    return {
      table: access.table,
      unit,
      change: changeOfRecord(access, key.params, namesOf(assignments)),
      countChange: null,
      result: returnedRecord,
      receipt: () => ({ after: recordResults(access, access.statements.changedRow(key.params, unchanged), options) }),
      shown: shownBy(access, options),
      explain: explainWithRowCheck(unit, explainAfterCheck(unit, explain))
    }
  }

  /** With `returnsRecord`, the result is the deleted record. @throws RECORD_NOT_FOUND for a text that cannot be a key */
  const deleteOp = (access: Access, pk: unknown, options: ChangeOptions = {}): Operation<string | undefined> => {
    assertTable(access.table)
    const { ifMatch } = options
    const key = readPk(access, pk)
    assertComparable(access, ifMatch)
    const explainChange = explainRowChange({ access }, { pk: key.text, ifMatch }, () => ignored(access.table))
    return {
      table: access.table,
      unit: [access.statements.remove(key.params, options.returnsRecord ? 'changed' : 'nothing', ifMatch)],
      change: changeOfRecord(access, key.params, null),
      countChange: () => -1,
      result: returnedRecord,
      receipt: () => ({ before: recordResults(access, access.statements.changedRow(key.params), options) }),
      shown: shownBy(access, options),
      explain: (caller, failure) =>
        hasCode(failure.error, 'FOREIGN_KEY_VIOLATION')
          ? final(stillReferenced(key.text))
          : explainChange(caller, failure)
    }
  }

  /** @throws VALIDATION_FAILED, NOT_INCREMENTABLE, RECORD_NOT_FOUND for a text that cannot be a key of the table */
  const incrementOp = (
    access: Access,
    { pk, field, count = 1 }: Increment,
    options: ChangeOptions = {}
  ): Operation<string | undefined> => {
    assertTable(access.table)
    const { ifMatch } = options
    const column = incrementableColumn(access, field)
    const key = readPk(access, pk)
    assertComparable(access, ifMatch)
    const added = { count: readCount(access, column, count), column }
    const reason = async (caller: Caller) => {
      const { read: readStatement, checkIncrement } = access.statements
      const check = { ...added, key: keyParams(access, String(key.text)) }
      const isBounded = await planner.usesIndex(access, readStatement(check.key))
      const [row] = await (isBounded ? db.read(checkIncrement(check)) : db.scan(checkIncrement(check, true), caller))
      if (row?.number !== 1) return notANumber(field)
      return row.fits === 1 ? ignored(access.table) : overflow(field)
    }
    const change = { ...added, key: key.params, now: clock(), ifMatch }
    const unit = access.statements.increment(change, returnedBy(access, options))
    const explain = explainRowChange({ access }, { pk: key.text, ifMatch }, reason)
    return {
      table: access.table,
      unit,
      change: changeOfRecord(access, key.params, [column.name]),
      countChange: null,
      result: returnedRecord,
      receipt: () => ({ after: recordResults(access, access.statements.changedRow(key.params), options) }),
      shown: shownBy(access, options),
      explain: explainWithRowCheck(unit, explainAfterCheck(unit, explain))
    }
  }

  return { createOp, createOrIgnoreOp, updateOp, deleteOp, incrementOp }
}
