import { setTimeout as delay } from 'node:timers/promises'

export interface Outcome {
  readonly status: number
  /** The code of an error; empty for a success, and for a connection that failed. */
  readonly code: string
  readonly data: unknown
}

const NO_RESPONSE: Outcome = { status: 0, code: '', data: null }

/** Sends a request. A connection that fails has the status 0. */
export const send = async (
  url: string,
  { token, method = 'GET', body, key }: { token: string; method?: string; body?: object; key?: string }
): Promise<Outcome> => {
  try {
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(key && { 'idempotency-key': key })
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000)
    })
    const { data, error } = (await response.json()) as { data?: unknown; error?: { code: string } }
    return { status: response.status, code: error?.code ?? '', data }
  } catch {
    return NO_RESPONSE
  }
}

/** What the load has observed. */
export interface Ledger {
  /** Texts of records that were acknowledged with an Idempotency-Key. */
  readonly keyed: Set<string>
  /** Texts of records that were acknowledged without one. */
  readonly plain: Set<string>
  /** Texts of records whose outcome is unknown. */
  readonly unknown: Set<string>
  /** Milliseconds of each keyed create, with its retries. */
  readonly times: number[]
  /** What must not happen. */
  readonly faults: string[]
  readonly codes: Map<string, number>
}

export const createLedger = (): Ledger => ({
  keyed: new Set(),
  plain: new Set(),
  unknown: new Set(),
  times: [],
  faults: [],
  codes: new Map()
})

interface LoadOptions {
  /** The services that listen now. */
  readonly services: () => readonly string[]
  readonly token: string
  readonly table: string
  readonly counters: string
  readonly ledger: Ledger
}

const RETRY_MS = 20

/** Starts clients that write and read until the returned function is called. */
export const startLoad = ({ services, token, table, counters, ledger }: LoadOptions, clients: number) => {
  let isStopped = false
  const pick = (number: number) => services()[number % services().length] as string
  const count = (outcome: Outcome) =>
    ledger.codes.set(
      `${outcome.status} ${outcome.code}`,
      (ledger.codes.get(`${outcome.status} ${outcome.code}`) ?? 0) + 1
    )

  /** Repeats a request until it succeeds. */
  const untilStored = async (path: string, request: { method: string; body: object; key: string }, number: number) => {
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await send(`${pick(number + attempt)}${path}`, { token, ...request })
      count(outcome)
      if (outcome.status === 200) return outcome
      if (outcome.status !== 0 && outcome.status !== 503 && outcome.status !== 409)
        ledger.faults.push(`${request.method} ${path}: ${outcome.status} ${outcome.code}`)
      if (outcome.code === 'OUTCOME_UNKNOWN') ledger.faults.push(`OUTCOME_UNKNOWN for a keyed request`)
      await delay(RETRY_MS)
    }
  }

  const createKeyed = async (client: number, number: number) => {
    const text = `keyed ${client} ${number}`
    const start = performance.now()
    await untilStored(`/data/${table}/records`, { method: 'POST', body: { text }, key: text }, client + number)
    ledger.times.push(performance.now() - start)
    ledger.keyed.add(text)
  }

  const createPlain = async (client: number, number: number) => {
    const text = `plain ${client} ${number}`
    const outcome = await send(`${pick(number)}/data/${table}/records`, { token, method: 'POST', body: { text } })
    count(outcome)
    if (outcome.status === 200) ledger.plain.add(text)
    else if (outcome.status === 0 || outcome.code === 'OUTCOME_UNKNOWN') ledger.unknown.add(text)
  }

  /** Increments by one service and reads by another one: the read must see the increment. */
  const incrementAndRead = async (client: number, number: number) => {
    const key = `incr ${client} ${number}`
    const body = { pk: String(client + 1), field: 'count' }
    await untilStored(`/data/${counters}/incr`, { method: 'POST', body, key }, number)
    const outcome = await send(`${pick(number + 1)}/data/${counters}/records/${client + 1}`, { token })
    count(outcome)
    const seen = (outcome.data as { count?: number } | null)?.count
    if (outcome.status === 200 && seen !== number + 1)
      ledger.faults.push(`stale read: counter ${client + 1} is ${seen}, and was incremented to ${number + 1}`)
  }

  const run = async (client: number) => {
    for (let number = 0; !isStopped; number += 1) {
      await createKeyed(client, number)
      await createPlain(client, number)
      await incrementAndRead(client, number)
    }
  }

  const running = Promise.all(Array.from({ length: clients }, (_, client) => run(client)))
  return async () => {
    isStopped = true
    await running
  }
}
