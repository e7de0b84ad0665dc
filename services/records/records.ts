import type { Increment, ListQuery, RecordBody } from '../../schemas/record.ts'
import { type ScanCaller as Caller, type Database, UnexpectedChanges } from '../engine/database.ts'
import type { Clock } from '../model/clock.ts'
import { always, type Confirm } from '../model/confirm.ts'
import { answerTooLarge, DomainError, excerpt, hasCode, invalid, recordNotFound } from '../model/errors.ts'
import { kindOf } from '../model/kinds/kind-of.ts'
import type { Row, SqlValue } from '../model/sql-value.ts'
import type { Column, RegisteredTable } from '../model/table.ts'
import { checkCount } from '../model/values.ts'
import { MAX_BYTES_ON_LOOP } from '../sql/bounded-text.ts'
import { MAX_KEY_LENGTH } from '../sql/keys.ts'
import {
  pageByScanning,
  pageBySeeking,
  pageNearStart,
  pageWithTotal,
  type Selection,
  totalOrder,
  type Window
} from '../sql/lists.ts'
import type { RecordText } from '../sql/record-text.ts'
import { readChanges, readNewRecord, refuseChanged } from './input.ts'
import { createPlans } from './plans.ts'
import {
  ambiguousKey,
  lostToTrigger,
  noNumber,
  overflow,
  refusedByConstraint,
  refusedByTrigger,
  roundedKey,
  stillReferredTo
} from './refusals.ts'
import { selectionOf, windowOf } from './selection.ts'
import type { Totals } from './totals.ts'
import type { View } from './view.ts'
import { explainViolation } from './violations.ts'

interface RecordServiceOptions {
  readonly db: Database
  readonly clock: Clock
  readonly totals: Totals
  readonly hasTriggers: (table: RegisteredTable) => boolean
  readonly maxPageSize: number
}

interface RowWrite {
  readonly write: () => Promise<unknown>
  /** Why it met no row, though there is one. */
  readonly why: () => Error | Promise<Error>
  readonly confirm: Confirm
}

/** Rows that may be skipped on the event loop; beyond, a page is sought by key or walked to in a reader thread. */
const LONGEST_SKIP = 1000

const keyOf = (view: View, pk: string): readonly SqlValue[] => {
  if (pk.length > MAX_KEY_LENGTH)
    throw new DomainError('PATH_TOO_LONG', `A primary key has ${MAX_KEY_LENGTH} characters at most.`)
  const key = view.parseKey(pk)
  if (!key) throw recordNotFound(pk)
  return key
}

/** The order of the key itself, in which its index most often lies. */
const isKeyOrder = ({ table, order }: Selection) => {
  if (table.structure.isRowidKey) return order[0]?.name === table.structure.key[0]
  return totalOrder(table, []).every(({ name }, index) => order[index]?.name === name && !order[index].descending)
}

/** @throws VALIDATION_FAILED where the page was too large to be made */
const madeText = (row: Row | undefined) => {
  if (typeof row?.text !== 'string') throw answerTooLarge()
  return row.text
}

/** Records of registered tables. Each call names the view that its caller has of the table. Records are JSON text. */
export const createRecordService = ({ db, clock, totals, hasTriggers, maxPageSize }: RecordServiceOptions) => {
  const plans = createPlans(db)

  const ignored = (table: RegisteredTable) => (hasTriggers(table) ? refusedByTrigger() : refusedByConstraint())

  /** How many records have the key: two where they are spelled alike. */
  const count = async (view: View, pk: string) => {
    const { read, exists } = view.statements
    const key = keyOf(view, pk)
    const usesIndex = await plans.usesIndex(view, read(key))
    const rows = await (usesIndex ? db.read(exists(key)) : db.scan(exists(key, true)))
    return rows.length
  }

  /** Whether a write met its row; false where there is one all the same. @throws where there is none, or two */
  const meetsRow = async (view: View, pk: string, write: Promise<unknown>) => {
    try {
      await write
      return true
    } catch (error) {
      if (!(error instanceof UnexpectedChanges)) throw explainViolation(error, view)
    }
    const found = await count(view, pk)
    if (found === 0) throw recordNotFound(pk)
    if (found > 1) throw ambiguousKey(pk)
    return false
  }

  /**
   * Runs a write on one row. Where it meets none although there is one, the record may have been made after the write:
   * it is tried once more, if the caller still may.
   */
  const writeRow = async (view: View, pk: string, { write, why, confirm }: RowWrite) => {
    if (await meetsRow(view, pk, write())) return
    await confirm()
    if (!(await meetsRow(view, pk, write()))) throw await why()
  }

  /** @throws RECORD_NOT_FOUND */
  const read = async (view: View, pk: string, caller?: Caller): Promise<string> => {
    const { statements, json } = view
    const key = keyOf(view, pk)
    const statement = statements.read(key)
    const usesIndex = json.minCost <= MAX_BYTES_ON_LOOP && plans.usesIndex(view, statement)
    const isBounded = usesIndex === true || (await usesIndex)
    const atOnce = isBounded ? await db.readText(statement) : ''
    const record = atOnce === '' ? (await db.scan(statements.read(key, true), caller))[0]?.record : atOnce
    if (typeof record !== 'string') throw recordNotFound(pk)
    return record
  }

  const create = async (view: View, body: RecordBody): Promise<string> => {
    const { table, statements } = view
    const assignments = readNewRecord(view, body, clock())
    try {
      const results = await totals.follow(table, 1, db.write(statements.insert(assignments, hasTriggers(table))))
      return String(results.at(-1)?.rows[0]?.record)
    } catch (error) {
      if (!(error instanceof UnexpectedChanges)) throw explainViolation(error, view)
      throw error.statement === 0 ? ignored(table) : lostToTrigger()
    }
  }

  const update = async (view: View, pk: string, body: RecordBody, confirm = always): Promise<void> => {
    const key = keyOf(view, pk)
    const { assignments, unchanged } = readChanges(view, pk, body)
    const statement = view.statements.update({ key, assignments, unchanged, now: clock() })
    const why = () => (unchanged.length > 0 ? refuseChanged(unchanged) : ignored(view.table))
    await writeRow(view, pk, { write: () => db.write([statement]), why, confirm })
  }

  const remove = async (view: View, pk: string, confirm = always): Promise<void> => {
    const statement = view.statements.remove(keyOf(view, pk))
    const removeRow = () =>
      db.write([statement]).catch((error) => {
        throw hasCode(error, 'FOREIGN_KEY_VIOLATION') ? stillReferredTo(pk) : error
      })
    const follow = () => totals.follow(view.table, -1, removeRow())
    await writeRow(view, pk, { write: follow, why: () => ignored(view.table), confirm })
  }

  const incrementable = ({ columns }: View, name: string): Column => {
    const column = columns.get(name)
    if (!column)
      throw invalid([{ path: '/field', code: 'unknown', message: `'${excerpt(name)}' is no field of this table.` }])
    if (!kindOf(column).isNumeric || column.isPrimary || column.isReadonly) {
      throw new DomainError('NOT_INCREMENTABLE', `'${name}' is not a number that may be changed.`)
    }
    return column
  }

  const increment = async (view: View, { pk, field, count = 1 }: Increment, confirm = always): Promise<void> => {
    if (typeof pk === 'number' && Number.isInteger(pk) && !Number.isSafeInteger(pk)) throw roundedKey()
    const column = incrementable(view, field)
    const checked = checkCount(column, count)
    if ('fault' in checked) {
      throw invalid([{ path: '/count', code: checked.fault.code, message: `'count' ${checked.fault.message}.` }])
    }
    const text = String(pk)
    const key = keyOf(view, text)
    const step = { key, column, count: checked.value }
    const why = async () => {
      const { read, checkIncrement } = view.statements
      const usesIndex = await plans.usesIndex(view, read(key))
      const [row] = await (usesIndex ? db.read(checkIncrement(step)) : db.scan(checkIncrement(step, true)))
      if (row?.number !== 1) return noNumber(field)
      return row.fits === 1 ? ignored(view.table) : overflow(field)
    }
    const statement = view.statements.increment({ ...step, now: clock() })
    await writeRow(view, text, { write: () => db.write([statement]), why, confirm })
  }

  const scanRows = async (selection: Selection, json: RecordText, window: Window, caller?: Caller) => {
    const [row] = await db.scan(pageByScanning(selection, json, window), caller)
    return madeText(row)
  }

  /** The rows of an unfiltered page by the cheapest way that is right; null where that is a reader thread. */
  const rowsAtOnce = async (view: View, selection: Selection, window: Window, total: number) => {
    const { table, json } = view
    if (window.offset >= total) return ''
    const isNear = window.offset <= LONGEST_SKIP
    const maxRowBytes = Math.floor(MAX_BYTES_ON_LOOP / Math.min(window.limit, total - window.offset))
    if (json.minCost > maxRowBytes || !isKeyOrder(selection) || !(isNear || table.structure.isRowidKey)) return null
    const narrow = { ...window, maxRowBytes, total }
    const near = pageNearStart(selection, json, narrow)
    if (!(await plans.isInOrder(view, near))) return null
    return db.readText(isNear ? near : pageBySeeking(selection, json, narrow))
  }

  const pageOfAll = async (view: View, selection: Selection, window: Window, caller?: Caller) => {
    const total = await totals.get(selection.table, caller)
    const rows = await rowsAtOnce(view, selection, window, total)
    return { rows: rows ?? (await scanRows(selection, view.json, window, caller)), total }
  }

  const pageOfMatches = async (view: View, selection: Selection, window: Window, caller?: Caller) => {
    const [row] = await db.scan(pageWithTotal(selection, view.json, window), caller)
    return { rows: madeText(row), total: Number(row?.total) }
  }

  /** A page as JSON text: `{ rows, total, page, size }`. */
  const list = async (view: View, query: ListQuery, caller?: Caller): Promise<string> => {
    const selection = selectionOf(view, query)
    const window = windowOf(query, maxPageSize)
    const page = selection.filter ? pageOfMatches : pageOfAll
    const { rows, total } = await page(view, selection, window, caller)
    return `{"rows":[${rows}],"total":${total},"page":${query.page ?? 1},"size":${window.limit}}`
  }

  return { read, create, update, remove, increment, list }
}

export type RecordService = ReturnType<typeof createRecordService>
