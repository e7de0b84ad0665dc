import type { Row } from '../../model/sql-value.ts'
import type { Statement } from '../../sql/statement.ts'
import type { OnTime, ScanCaller } from '../database.ts'
import { createSlots } from '../loop/slots.ts'
import { toReadError, toViewError } from '../loop/sqlite-errors.ts'
import type { PlainError } from '../shared/plain-error.ts'
import type { Client } from './client.ts'
import type { Epoch } from './epoch.ts'
import { toQueryError } from './errors.ts'
import { selectState, toState } from './state.ts'
import { encodeStatement, type Result, toRows } from './values.ts'

/** Scans of tables, and those of SQL views, that this service runs at a time. */
const MAX_SCANS = 4
const MAX_VIEW_SCANS = 3

interface ScansOptions {
  readonly client: Pick<Client, 'queryEncoded'>
  readonly epoch: () => Epoch
  /** Of this service. */
  readonly id: string
}

/** Runs unbounded statements, each as a request that rqlite ends after 30 s. */
export const createScans = ({ client, epoch, id }: ScansOptions) => {
  const state = encodeStatement(selectState(id))

  const createKind = (count: number, toError: (error: PlainError) => Error) => {
    const slots = createSlots(count, count - 1)

    const scanNow = async (statement: Statement): Promise<readonly Row[]> => {
      const since = epoch().known()
      const results = await client.queryEncoded([state, encodeStatement(statement)], { isScan: true })
      const [first, result] = results as [Result, Result]
      const found = toState(toRows(first)[0])
      epoch().compareBatches(found)
      // The caller confirms its right after this.
      await epoch().catchUp(found, since)
      if (result.error !== undefined) throw toError(toQueryError(result.error))
      return toRows(result)
    }

    const scan = (statement: Statement, caller: ScanCaller, onTime?: OnTime) =>
      slots.run(caller, () => scanNow(statement), onTime)

    return { scan, scanNow, slots }
  }

  return { tables: createKind(MAX_SCANS, toReadError), views: createKind(MAX_VIEW_SCANS, toViewError) }
}
