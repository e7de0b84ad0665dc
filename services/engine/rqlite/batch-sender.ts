import type { Statement, UnitOptions } from '../../sql/statement.ts'
import type { Client, RqliteResponse } from './client.ts'
import { expectChanges, fenceBatch, insertService, selectBatch, storeBatchNumber } from './state.ts'
import { composeText, failedStep, type Step } from './units.ts'
import { encodeStatement, type Result } from './values.ts'

/**
 * What became of a batch. `lost`: it is stored, but its results are not known. `stale`: memory is older than the cluster.
 * `refused`: the cluster accepted no request. `unknown`: it may have been stored, or may be stored later.
 */
export type Sent =
  | { readonly kind: 'stored'; readonly results: readonly Result[] }
  | { readonly kind: 'lost' | 'stale' }
  | { readonly kind: 'refused'; readonly error: Error }
  | { readonly kind: 'unknown'; readonly cause?: unknown }
  | { readonly kind: 'failed'; readonly index: number | undefined; readonly message: string }

interface BatchSenderOptions {
  readonly client: Pick<Client, 'execute' | 'query'>
  /** Of this service. */
  readonly id: string
}

/** The position of the first statement that failed, and its message. */
interface Failed {
  readonly index: number | undefined
  readonly message: string
}

/** Sends the statements of a batch after those that store its number. */
type Post = (head: readonly Step[], onLost: () => void) => Promise<RqliteResponse>

/** `checks`: statements that fail if memory is stale. */
interface Batch {
  readonly checks: readonly Statement[]
  readonly post: Post
  readonly find: FindFailure
}

/** Returns what failed in the response; null if nothing did. */
type FindFailure = (response: NonNullable<RqliteResponse>) => Failed | null

/** Errors of the file of one node. The other nodes may have stored the batch. */
const IS_OF_NODE =
  /^(?:database or disk is full|disk I\/O error|database disk image|database (?:schema |table )?is locked(?:$|:)|attempt to write a readonly|out of memory|interrupted|unable to open|sql: )/

/** The statements that store the number of a batch. The checks of memory follow. */
const NUMBER = 2
const NUMBER_CHECK = 1

const findFailure: FindFailure = (response) => {
  if (response.error !== undefined) return { index: undefined, message: response.error }
  const index = response.results.findIndex(({ error }) => error !== undefined)
  return index === -1 ? null : { index, message: String(response.results[index]?.error) }
}

/** The text of a unit without foreign keys is the third statement of its request. */
const TEXT = 2

const findFailureOfText: FindFailure = (response) => {
  const message = response.error ?? response.results[TEXT]?.error
  return message === undefined ? null : { index: failedStep(message), message }
}

/**
 * Creates the functions that send a batch to the cluster, once or more, and store it once: it begins by storing its number in the
 * row of this service, if the stored number is lower. If a response is lost, the batch is sent again.
 */
export const createBatchSender = ({ client, id }: BatchSenderOptions) => {
  /** The number of the last batch that is known to be stored. */
  let last = 0
  /** The number of the last batch that was sent. */
  let count = 0
  /** The batch that is being sent. */
  let sending: Promise<unknown> = Promise.resolve()

  const readLast = async () => {
    const [rows] = await client.query([selectBatch(id)])
    const batch = rows?.[0]?.batch
    if (batch !== undefined) return Number(batch)
    // The cluster was restored from a backup that is older than this service.
    const response = await client.execute([encodeStatement(insertService(id))])
    if (response === null || findFailure(response)) throw new Error('The row of this service cannot be stored.')
    return 0
  }

  const headOf = (number: number, checks: readonly Statement[]): readonly Step[] =>
    [storeBatchNumber(id, number), expectChanges(1), ...checks].map((statement) => ({
      statement,
      position: 0,
      isAdded: true
    }))

  /**
   * Makes sure that an earlier request with the number cannot be stored any more. Returns whether it was stored before.
   */
  const fence = async (number: number): Promise<boolean> => {
    for (;;) {
      count += 1
      const next = count
      const statements = [fenceBatch(id, last, next), expectChanges(1)].map(encodeStatement)
      const response = await client.execute(statements)
      if (response === null) throw new Error('The cluster does not respond.')
      const failed = findFailure(response)
      if (!failed) {
        last = next
        return false
      }
      if (failed.index !== NUMBER_CHECK) throw new Error(failed.message)
      last = await readLast()
      if (last === number) return true
    }
  }

  const sendOnce = async ({ checks, post, find }: Batch): Promise<Sent | 'retry'> => {
    count += 1
    const number = count
    let lost = 0
    const onLost = () => {
      lost += 1
    }
    const response = await post(headOf(number, checks), onLost).catch((error: Error) => {
      if (lost > 0) throw error
      return error
    })
    if (response instanceof Error) return { kind: 'refused', error: response }
    if (response === null) return { kind: 'unknown' }
    const failed = find(response)
    if (!failed) {
      last = number
      return { kind: 'stored', results: response.results }
    }
    if (failed.index === NUMBER_CHECK) {
      last = await readLast()
      return last === number ? { kind: 'lost' } : 'retry'
    }
    if (IS_OF_NODE.test(failed.message)) return { kind: 'unknown' }
    if (lost > 0 && (await fence(number))) return { kind: 'lost' }
    const isStale = failed.index !== undefined && failed.index < NUMBER + checks.length
    return isStale ? { kind: 'stale' } : { kind: 'failed', ...failed }
  }

  const withoutHead = (sent: Sent, length: number): Sent => {
    if (sent.kind === 'stored') return { kind: 'stored', results: sent.results.slice(length) }
    if (sent.kind !== 'failed' || sent.index === undefined) return sent
    return { ...sent, index: sent.index - length }
  }

  const sendUntilKnown = async (batch: Batch): Promise<Sent> => {
    try {
      for (;;) {
        const sent = await sendOnce(batch)
        if (sent !== 'retry') return withoutHead(sent, NUMBER + batch.checks.length)
      }
    } catch (cause) {
      return { kind: 'unknown', cause }
    }
  }

  const track = <T>(promise: Promise<T>) => {
    sending = promise
    return promise
  }

  /** Sends encoded statements in one transaction. `onStored`: called before `settled` resolves. */
  const send = (encoded: readonly string[], checks: readonly Statement[], onStored: () => void): Promise<Sent> =>
    track(
      (async () => {
        const post: Post = (head, onLost) =>
          client.execute([...head.map(({ statement }) => encodeStatement(statement)), ...encoded], { onLost })
        const sent = await sendUntilKnown({ checks, post, find: findFailure })
        // After a lost response memory has none of the changes, so it is read again.
        if (sent.kind === 'stored') onStored()
        return sent
      })()
    )

  /** Sends the steps of a unit with other settings of the connection. Its statements return no rows. */
  const sendAlone = async (
    steps: readonly Step[],
    checks: readonly Statement[],
    options: UnitOptions
  ): Promise<Sent> => {
    const { foreignKeys = true, keepsBroken = false } = options
    const settings = (isOn: boolean) => [
      `PRAGMA foreign_keys = ${foreignKeys || !isOn ? 'ON' : 'OFF'}; PRAGMA legacy_alter_table = ${!foreignKeys && isOn ? 'ON' : 'OFF'}`,
      `PRAGMA writable_schema = ${keepsBroken && isOn ? 'ON' : 'OFF'}`
    ]
    const post: Post = (head, onLost) => {
      const texts = [...settings(true), composeText([...head, ...steps]), 'ROLLBACK', ...settings(false)]
      const encoded = texts.map((sql) => encodeStatement({ sql, params: [] }))
      return client.execute(encoded, { isTransaction: false, onLost })
    }
    const sent = await track(sendUntilKnown({ checks, post, find: findFailureOfText }))
    return sent.kind === 'stored' ? { kind: 'stored', results: [] } : sent
  }

  return {
    send,
    sendAlone,
    /** Resolves when no batch is being sent. */
    settled: () => sending,
    /** To be called once, after the row of this service was stored. */
    start: async () => {
      last = await readLast()
      count = last
    }
  }
}

export type BatchSender = ReturnType<typeof createBatchSender>
