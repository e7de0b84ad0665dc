import { type Access, connect, type Index, readIndex, readRecord, SHARED } from './access.ts'
import type { Call, TestResponse } from './http.ts'
import { createLargeImporter, createSmallImporter } from './import-writers.ts'
import { groupOf, keysOfBalances, keysOfGroup, type Ledger } from './ledger.ts'
import {
  addField,
  create,
  createAll,
  createIndex,
  createTable,
  deleteIndex,
  increment,
  move,
  remove,
  removeAll,
  update,
  type Write
} from './writes.ts'

export const CLIENTS = 32
/** Limits on the records of a client, so that the database stays small in a long test. */
const MIN_RECORDS = 4
const MAX_RECORDS = 16
/** Groups of records of a client that writes batches. */
const MAX_GROUPS = 3
const BATCH_WRITERS = 4
/** Those of tables, of indexes, of small imports and of large ones. */
const OTHER_WRITERS = 4
/** Fields that are added to a table before the next table is created. */
const FIELDS_PER_TABLE = 8

const below = (limit: number) => Math.floor(Math.random() * limit)

/** A client that writes records of its own, which no other client writes, and increments the shared record. */
const createRecordWriter = (ledger: Ledger, number: number) => {
  const prefix = `r${number}_`
  const own = new Set(ledger.certain().filter((key) => key.startsWith(prefix)))

  const plan = (): Write => {
    const keys = [...own]
    const key = keys[below(keys.length)]
    const choice = below(10)
    if (key === undefined || keys.length < MIN_RECORDS || (choice < 2 && keys.length < MAX_RECORDS)) {
      const value = ledger.next()
      return create(`${prefix}${value}`, value)
    }
    if (choice < 4) return remove(key)
    if (choice < 6) return increment(key, 1 + below(3))
    return choice < 7 ? increment(SHARED, 1) : update(key, ledger.next())
  }

  const updateKeys = (key: string) => {
    if (!key.startsWith(prefix)) return
    if (ledger.isCertain(key)) own.add(key)
    else own.delete(key)
  }
  return { plan, updateKeys, owns: (key: string) => key.startsWith(prefix), read: readRecord }
}

/** A client that writes through batches: it moves amounts between two records, and creates and deletes groups of records. */
const createBatchWriter = (ledger: Ledger, number: number) => {
  const prefix = `b${number}_`
  const balances = keysOfBalances(prefix)
  const groups = new Set(ledger.certain().flatMap((key) => groupOf(key, prefix) ?? []))

  const plan = (): Write => {
    const [from, to] = below(2) === 0 ? balances : balances.toReversed()
    if (!from || !to || !ledger.isCertain(from)) return createAll(balances, ledger.next)
    if (below(2) === 0) return move(from, to, 1 + below(9))
    const [group] = groups
    if (group === undefined || groups.size < MAX_GROUPS) {
      return createAll(keysOfGroup(`${prefix}g${ledger.next()}`), ledger.next)
    }
    return removeAll(keysOfGroup(group))
  }

  const updateKeys = (key: string) => {
    const group = groupOf(key, prefix)
    if (group === undefined) return
    if (ledger.isCertain(key)) groups.add(group)
    else groups.delete(group)
  }
  return { plan, updateKeys, owns: () => true, read: readRecord }
}

/** A client that creates tables, and adds fields to the latest one. */
const createSchemaWriter = (ledger: Ledger) => {
  let table: string | undefined
  let fields = 0

  const plan = () => {
    if (table === undefined || fields === FIELDS_PER_TABLE) {
      fields = 0
      return createTable(`made${ledger.next()}`)
    }
    fields += 1
    return addField(table, `f${ledger.next()}`)
  }

  const updateKeys = (key: string) => {
    if (!key.includes('.')) table = ledger.isCertain(key) ? key : undefined
  }
  return { plan, updateKeys, owns: () => false, read: readRecord }
}

/** A client that creates and deletes indexes of the records. No other client does. */
const createIndexWriter = (ledger: Ledger, indexes: readonly Index[]) => {
  const plan = () => {
    const index = indexes[below(indexes.length)] as Index
    return ledger.isCertain(index.name) ? deleteIndex(index) : createIndex(index)
  }
  return { plan, updateKeys: () => {}, owns: () => true, read: readIndex }
}

type Writer = ReturnType<typeof createRecordWriter>

/** Numbers of responses by status. Status 0: the connection ended before the response. */
interface ResponseCounts {
  readonly writes: Map<number, number>
  readonly reads: Map<number, number>
  /** Imports that were acknowledged. */
  imports: number
}

const count = (statuses: Map<number, number>, { status }: TestResponse) =>
  statuses.set(status, (statuses.get(status) ?? 0) + 1)

interface Checked extends Pick<Writer, 'read'> {
  readonly key: string
}

/** Reads a record or an index, compares it with the ledger, and records the state that it has. */
const check = async (call: Call, ledger: Ledger, { key, read }: Checked, counts: ResponseCounts) => {
  const { response, state } = await read(call, key)
  count(counts.reads, response)
  if (!state) return
  const [fault] = ledger.fault(key, state)
  if (fault) throw new Error(`A client read a wrong state: ${fault}`)
  ledger.settle(key, state)
}

/** The statuses of requests that fail because of the disk. All requests are valid, so any other failure is a fault. */
const DISK_FAILURES = [503, 507]

const codeOf = ({ body }: TestResponse) => JSON.parse(body).error.code

/** The disk has failed between two steps of an import. */
const isStopped = (response: TestResponse) => response.status === 409 && codeOf(response) === 'IMPORT_STOPPED'

const hasFailed = (response: TestResponse) => DISK_FAILURES.includes(response.status) || isStopped(response)

/** Nothing of the write is stored. An import is stored in several steps, of which the first may be. */
const isRefused = ({ path }: Write, response: TestResponse) =>
  DISK_FAILURES.includes(response.status) && codeOf(response) !== 'OUTCOME_UNKNOWN' && !path.includes('/import')

const assertExpected = ({ method, path, changes }: Write, response: TestResponse) => {
  const { status, body, headers } = response
  const mayRetry = status !== 503 || headers['retry-after'] !== undefined || codeOf(response) === 'OUTCOME_UNKNOWN'
  const isExpected = ([0, 200].includes(status) || hasFailed(response)) && mayRetry
  if (!isExpected) throw new Error(`${method} ${path} returned ${status} to ${JSON.stringify(changes)}: ${body}`)
}

/** Sends one write and sometimes reads its record. Returns whether the service is still running. */
const step = async (call: Call, ledger: Ledger, writer: Writer, counts: ResponseCounts) => {
  const write = writer.plan()
  const response = await call(write.method, write.path, write.body, write.headers)
  count(counts.writes, response)
  assertExpected(write, response)
  if (!isRefused(write, response)) ledger.record(write.changes, response.status === 200)
  if (response.status === 200 && write.path.includes('/import')) counts.imports += 1
  const isChecked = hasFailed(response) || below(8) === 0
  for (const { key } of write.changes) {
    if (isChecked && writer.owns(key)) await check(call, ledger, { key, read: writer.read }, counts)
    writer.updateKeys(key)
  }
  return response.status !== 0
}

/** Conditions that clients wait for. `check` resolves those that are met. */
const createConditions = () => {
  const waiting: { readonly isMet: () => boolean; readonly resolve: () => void }[] = []
  return {
    wait: (isMet: () => boolean) => new Promise<void>((resolve) => waiting.push({ isMet, resolve })),
    check: () => {
      for (const { isMet, resolve } of waiting) if (isMet()) resolve()
    }
  }
}

/** Starts clients that write, each one request at a time, until `stop` is called or the service has ended. */
export const startClients = (address: string, access: Access, ledger: Ledger) => {
  const counts: ResponseCounts = { writes: new Map(), reads: new Map(), imports: 0 }
  const call = connect(address, access)
  const conditions = createConditions()
  let isStopped = false

  const work = async (writer: Writer) => {
    let isRunning = true
    while (isRunning && !isStopped) {
      isRunning = await step(call, ledger, writer, counts)
      conditions.check()
    }
  }

  const recordWriters = Array.from({ length: CLIENTS - BATCH_WRITERS - OTHER_WRITERS }, (_, number) =>
    createRecordWriter(ledger, number)
  )
  const batchWriters = Array.from({ length: BATCH_WRITERS }, (_, number) => createBatchWriter(ledger, number))
  const writers = [
    ...recordWriters,
    ...batchWriters,
    createSchemaWriter(ledger),
    createIndexWriter(ledger, access.indexes),
    createSmallImporter(ledger),
    createLargeImporter(ledger)
  ]
  const finished = Promise.all(writers.map(work)).finally(() => {
    isStopped = true
  })

  return {
    counts,
    finished,
    /** Resolves when the condition is met after a request, or all clients have ended. @throws the fault that a client found */
    until: (isMet: () => boolean) => Promise.race([conditions.wait(isMet), finished]),
    stop: () => {
      isStopped = true
      return finished
    }
  }
}
