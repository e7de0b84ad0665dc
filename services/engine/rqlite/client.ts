import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { DomainError } from '../../model/errors.ts'
import type { Statement } from '../../sql/statement.ts'
import { toReadError } from '../loop/sqlite-errors.ts'
import { createBlobTexts } from './dialect.ts'
import { toQueryError } from './errors.ts'
import { type Encoded, encodeAll, encodeStatement, type Result, toRows } from './values.ts'

export interface RqliteOptions {
  /** The addresses of the nodes, such as `http://node1:4001`. */
  readonly urls: readonly string[]
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** A file with the certificates that sign those of the nodes, in PEM. */
  readonly caFile?: string | undefined
  /** Milliseconds in which a request is sent again to a cluster that does not respond. */
  readonly maxRetryMs?: number | undefined
}

export interface QueryOptions {
  /** Ends each statement after 30 s. */
  readonly isScan?: boolean
}

/** The response of rqlite to statements, or null if it is not known whether they ran. `error`: one outside of all statements. */
export type RqliteResponse = { readonly results: readonly Result[]; readonly error?: string } | null

/** Connections to each node. Writes use one. */
const CONNECTIONS = 16
/** An election takes less. */
const MAX_RETRY_MS = 10_000
const RETRY_PAUSE_MS = 20
/** After this time without a response, the other nodes are queried for the leader. */
const PATIENCE_MS = 250
const PROBE_TIMEOUT_MS = 250
/** For a GET request, which is sent at the start only. */
const START_TIMEOUT_MS = 5000
/** Long enough for the write of a large import. */
const RESPONSE_TIMEOUT_MS = 60_000

const READ_PATH = '/db/query?level=linearizable&transaction&blob_array'
const SCAN_PATH = `${READ_PATH}&db_timeout=30s`
const WRITE_PATH = '/db/execute?norwrandom&norwtime&blob_array'

export const clusterUnavailable = () =>
  new DomainError(
    'STORAGE_UNAVAILABLE',
    'The cluster has no leader, or cannot be reached. No change was acknowledged.',
    {
      retryAfter: 1
    }
  )

const readCertificates = (file: string) => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`RQLITE_CA names ${file}, which cannot be read: ${(error as Error).message}.`)
  }
}

/** A node as rqlite describes it. Without an address, it did not respond to the other nodes. */
export interface ClusterNode {
  readonly api_addr?: string
}

/** Returns an address in the one form in which addresses are compared. @throws a TypeError for another text */
export const originOf = (address: string | undefined) => new URL(String(address)).origin

/** Errors outside of all statements that come from SQLite. After those of rqlite itself, the statements may run later, or have run. */
const IS_OF_SQLITE = /^(?:FOREIGN KEY constraint failed|sql: transaction has already|query timeout$)/

/** A value that JSON does not have, such as an infinity: rqlite can never respond to the query. */
const IS_UNREADABLE = /^json: /

/** Creates the client of a cluster. It prefers the leader, because other nodes pass requests on to it. */
export const createRqliteClient = ({ urls, user, password, caFile, maxRetryMs = MAX_RETRY_MS }: RqliteOptions) => {
  const connect = caFile === undefined ? {} : { ca: readCertificates(caFile) }
  const options = {
    connections: CONNECTIONS,
    connect,
    headersTimeout: RESPONSE_TIMEOUT_MS,
    bodyTimeout: RESPONSE_TIMEOUT_MS
  }
  const nodes = urls.map(originOf).map((url) => ({ url, pool: new Pool(url, options) }))
  const headers = {
    'content-type': 'application/json',
    ...(user !== undefined && { authorization: `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}` })
  }
  /** The position of the node that gets the requests. */
  let current = 0
  /** The same, if it is known that this node is the leader. */
  let leader: number | null = null
  let isClosed = false
  let retries = 0
  let replaceBlobs = (text: string) => text

  const get = async (index: number, path: string, timeoutMs: number) => {
    const { pool } = nodes[index] as (typeof nodes)[number]
    const { statusCode, body } = await pool.request({
      path,
      method: 'GET',
      headers,
      signal: AbortSignal.timeout(timeoutMs)
    })
    return { statusCode, text: await body.text() }
  }

  /** Returns the position of the leader, as the node knows it. @throws an Error if it knows none that RQLITE_URLS has */
  const readLeader = async (index: number) => {
    const { text } = await get(index, '/leader?timeout=150ms', PROBE_TIMEOUT_MS)
    const address = originOf((JSON.parse(text) as ClusterNode).api_addr)
    const found = nodes.findIndex(({ url }) => url === address)
    if (found === -1) throw new Error('RQLITE_URLS does not have the leader.')
    return found
  }

  /** Returns the position of the leader, as the first node says that knows it. null: none does. */
  const findLeader = (indexes: readonly number[]) => Promise.any(indexes.map(readLeader)).catch(() => null)

  /** Chooses the leader, or the next node if none is known: it passes requests on as soon as it knows the leader. */
  const chooseNode = async () => {
    const next = (current + 1) % nodes.length
    leader = await findLeader([...nodes.keys()])
    current = leader ?? next
  }

  /** Resolves when a request that is sent now should be sent to another node, because that one is the leader. */
  const leaderMoved = async (signal: AbortSignal) => {
    const [sentTo, known] = [current, leader]
    const others = [...nodes.keys()].filter((index) => index !== sentTo)
    while (!signal.aborted) {
      await delay(PATIENCE_MS, undefined, { signal })
      const found = await findLeader(others)
      if (found === null || found === known) continue
      leader = found
      current = found
      return
    }
  }

  const post = async (path: string, body: string): Promise<RqliteResponse> => {
    const { pool } = nodes[current] as (typeof nodes)[number]
    const stop = new AbortController()
    const request = pool
      .request({ path, method: 'POST', headers, body, signal: stop.signal })
      .then(async ({ statusCode, body: received }) => ({ status: statusCode, text: await received.text() }))
    const moved = nodes.length > 1 ? leaderMoved(stop.signal).then(() => null) : new Promise<null>(() => {})
    moved.catch(() => {})
    try {
      const response = await Promise.race([request, moved])
      if (response === null) return null
      if (path.startsWith(READ_PATH) && IS_UNREADABLE.test(response.text)) return { results: [], error: response.text }
      if (response.status >= 500) return null
      if (response.status === 401) throw refusedCredentials()
      if (response.status !== 200) throw refusedRequest(response)
      const { results = [], error } = JSON.parse(replaceBlobs(response.text)) as {
        results?: readonly Result[]
        error?: string
      }
      if (error !== undefined) return IS_OF_SQLITE.test(error) ? { results: [], error } : null
      return { results }
    } finally {
      stop.abort()
      request.catch(() => {})
    }
  }

  /** Sends statements once. null: it is not known whether they ran. */
  const send = async (path: string, body: string): Promise<RqliteResponse> => {
    try {
      return await post(path, body)
    } catch (error) {
      if (error instanceof DomainError) throw error
      return null
    }
  }

  const mayRetry = (since: number) => !isClosed && performance.now() - since < maxRetryMs

  /** Sends statements until there is a response. `onLost`: called after each request without one. */
  const sendWithRetries = async (path: string, body: string, onLost = () => {}): Promise<RqliteResponse> => {
    const start = performance.now()
    for (;;) {
      const response = await send(path, body)
      if (response !== null) return response
      onLost()
      if (!mayRetry(start)) return null
      retries += 1
      await chooseNode()
      await delay(RETRY_PAUSE_MS)
    }
  }

  const queryEncoded = async (statements: readonly Encoded[], { isScan = false }: QueryOptions = {}) => {
    const response = await sendWithRetries(isScan ? SCAN_PATH : READ_PATH, encodeAll(statements))
    if (response === null) throw clusterUnavailable()
    if (response.error !== undefined) throw toReadError(toQueryError(response.error))
    return response.results
  }

  return {
    addresses: nodes.map(({ url }) => url),
    /** Returns the result of each statement, of which some may be errors. @throws STORAGE_UNAVAILABLE */
    queryEncoded,
    query: async (statements: readonly Statement[], options?: QueryOptions) => {
      const results = await queryEncoded(statements.map(encodeStatement), options)
      return results.map((result) => {
        if (result.error !== undefined) throw toReadError(toQueryError(result.error))
        return toRows(result)
      })
    },
    /** Runs statements in one transaction, or without one. The caller must be able to send the same statements again. */
    execute: (
      statements: readonly Encoded[],
      { isTransaction = true, onLost }: { readonly isTransaction?: boolean; readonly onLost?: () => void } = {}
    ) => sendWithRetries(isTransaction ? `${WRITE_PATH}&transaction` : WRITE_PATH, encodeAll(statements), onLost),
    /** Returns the text of a GET request to the current node. @throws STORAGE_UNAVAILABLE for wrong credentials */
    get: async (path: string) => {
      const response = await get(current, path, START_TIMEOUT_MS)
      if (response.statusCode === 401) throw refusedCredentials()
      return response
    },
    /** Whether a start that began then may try again. */
    mayRetry,
    chooseNode,
    /** Sets the mark of BLOBs in the texts of responses: see `dialect.ts`. */
    setMark: (mark: string) => {
      replaceBlobs = createBlobTexts(mark)
    },
    counts: () => ({ retries, node: (nodes[current] as (typeof nodes)[number]).url }),
    close: async () => {
      isClosed = true
      await Promise.all(nodes.map(({ pool }) => pool.destroy()))
    }
  }
}

/** A response of a proxy, or of rqlite without a change: no statement ran. */
const refusedRequest = ({ status, text }: { readonly status: number; readonly text: string }) =>
  Object.assign(new DomainError('STORAGE_UNAVAILABLE', 'The cluster refuses the request.', { retryAfter: 5 }), {
    cause: new Error(`${status}: ${text.slice(0, 200)}`)
  })

const refusedCredentials = () =>
  new DomainError(
    'STORAGE_UNAVAILABLE',
    'The cluster refuses RQLITE_USER and RQLITE_PASSWORD, or the user has not all of these permissions: query, execute, status, ready, leader-ops.',
    { retryAfter: 5 }
  )

export type Client = ReturnType<typeof createRqliteClient>
