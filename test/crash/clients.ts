import { type Access, callAs, RECORDS, readRecord, SHARED, textOf } from './access.ts'
import type { Call, TestResponse } from './caller.ts'
import type { Change, Ledger } from './ledger.ts'

export const CLIENTS = 32
/** Records that a client keeps, so that the database stays small however long the test. */
const FEWEST = 4
const MOST = 16
/** Fields that are added to a table before there is another one. */
const FIELDS = 8

/** A call that writes, and what it does to whom. */
interface Write {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly key: string
  readonly change: Change
}

const create = (key: string, value: number): Write => {
  const body = { key, value, text: textOf(value), counter: 0 }
  return { method: 'POST', path: `/data/${RECORDS}/records`, body, key, change: { value } }
}

const update = (key: string, value: number): Write => {
  const body = { value, text: textOf(value) }
  return { method: 'PUT', path: `/data/${RECORDS}/records/${key}`, body, key, change: { value } }
}

const remove = (key: string): Write => {
  return { method: 'DELETE', path: `/data/${RECORDS}/records/${key}`, key, change: { value: null } }
}

const increment = (key: string, add: number): Write => {
  const body = { pk: key, field: 'counter', count: add }
  return { method: 'POST', path: `/data/${RECORDS}/incr`, body, key, change: { add } }
}

const createTable = (name: string): Write => {
  const body = { name, label: '', fields: [{ name: 'first', jsonType: 'string' }] }
  return { method: 'POST', path: '/data/_schema/tables', body, key: name, change: { value: 1 } }
}

const addField = (table: string, name: string): Write => {
  const path = `/data/_schema/tables/${table}/fields`
  const body = { field: { name, jsonType: 'string' } }
  return { method: 'POST', path, body, key: `${table}.${name}`, change: { value: 1 } }
}

const below = (limit: number) => Math.floor(Math.random() * limit)

/** A client of records: those of its own, which nobody else writes, and the one that all clients increment. */
const recordWriter = (ledger: Ledger, number: number) => {
  const mine = `r${number}_`
  const own = new Set(ledger.certain().filter((key) => key.startsWith(mine)))

  const plan = (): Write => {
    const keys = [...own]
    const key = keys[below(keys.length)]
    const choice = below(10)
    if (key === undefined || keys.length < FEWEST || (choice < 2 && keys.length < MOST)) {
      const value = ledger.next()
      return create(`${mine}${value}`, value)
    }
    if (choice < 4) return remove(key)
    if (choice < 6) return increment(key, 1 + below(3))
    return choice < 7 ? increment(SHARED, 1) : update(key, ledger.next())
  }

  const follow = (key: string) => {
    if (!key.startsWith(mine)) return
    if (ledger.isCertain(key)) own.add(key)
    else own.delete(key)
  }
  return { plan, follow, owns: (key: string) => key.startsWith(mine) }
}

/** The client that makes tables, and adds fields to the latest of them. */
const schemaWriter = (ledger: Ledger) => {
  let table: string | undefined
  let fields = 0

  const plan = () => {
    if (table === undefined || fields === FIELDS) {
      fields = 0
      return createTable(`made${ledger.next()}`)
    }
    fields += 1
    return addField(table, `f${ledger.next()}`)
  }

  const follow = (key: string) => {
    if (!key.includes('.')) table = ledger.isCertain(key) ? key : undefined
  }
  return { plan, follow, owns: () => false }
}

type Writer = ReturnType<typeof recordWriter>

export interface Answers {
  /** How often there was each status: 0 where the connection ended first. */
  readonly writes: Map<number, number>
  readonly reads: Map<number, number>
}

const count = (counts: Map<number, number>, { status }: TestResponse) =>
  counts.set(status, (counts.get(status) ?? 0) + 1)

/** Reads a record of one's own, holds it against what is known, and knows it then. */
const look = async (call: Call, ledger: Ledger, key: string, answers: Answers) => {
  const { answer, seen } = await readRecord(call, key)
  count(answers.reads, answer)
  if (!seen) return
  const [fault] = ledger.fault(key, seen)
  if (fault) throw new Error(`A client reads that ${fault}`)
  ledger.settle(key, seen)
}

/** Refusals of a disk that fails. Any other is a fault: each call is a rightful one. */
const REFUSALS = [503, 507]

const assertRightful = ({ method, path }: Write, { status, body, headers }: TestResponse) => {
  const isRightful = [0, 200, ...REFUSALS].includes(status) && (status !== 503 || headers['retry-after'] !== undefined)
  if (!isRightful) throw new Error(`${method} ${path} was answered with ${status}: ${body}`)
}

/** One write, and a look at what became of it. Gives whether the service is still there. */
const step = async (call: Call, ledger: Ledger, writer: Writer, answers: Answers) => {
  const write = writer.plan()
  const answer = await call(write.method, write.path, write.body)
  count(answers.writes, answer)
  assertRightful(write, answer)
  ledger.note(write.key, write.change, answer.status === 200)
  const isRefused = REFUSALS.includes(answer.status)
  if (writer.owns(write.key) && (isRefused || below(8) === 0)) await look(call, ledger, write.key, answers)
  writer.follow(write.key)
  return answer.status !== 0
}

/** What is waited for, looked at after every call. */
const createConditions = () => {
  const waiting: { readonly isMet: () => boolean; readonly resolve: () => void }[] = []
  return {
    wait: (isMet: () => boolean) => new Promise<void>((resolve) => waiting.push({ isMet, resolve })),
    announce: () => {
      for (const { isMet, resolve } of waiting) if (isMet()) resolve()
    }
  }
}

/** Clients that write, one call at a time each, until they are told to stop or the service is gone. */
export const startClients = (address: string, access: Access, ledger: Ledger) => {
  const answers: Answers = { writes: new Map(), reads: new Map() }
  const call = callAs(address, access)
  const conditions = createConditions()
  let isStopped = false

  const work = async (writer: Writer) => {
    let isThere = true
    while (isThere && !isStopped) {
      isThere = await step(call, ledger, writer, answers)
      conditions.announce()
    }
  }

  const writers = Array.from({ length: CLIENTS - 1 }, (_, number) => recordWriter(ledger, number))
  const finished = Promise.all([...writers, schemaWriter(ledger)].map(work)).finally(() => {
    isStopped = true
  })

  return {
    answers,
    finished,
    /** Resolves when it is so after a call, or no client is left. @throws what a client found wrong */
    until: (isMet: () => boolean) => Promise.race([conditions.wait(isMet), finished]),
    stop: () => {
      isStopped = true
      return finished
    }
  }
}
