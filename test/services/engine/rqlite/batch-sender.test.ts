import t from 'tap'
import { createBatchSender } from '../../../../services/engine/rqlite/batch-sender.ts'
import type { RqliteResponse } from '../../../../services/engine/rqlite/client.ts'

const CHECK = { sql: "SELECT CASE WHEN FALSE THEN json('!') END", params: [] }
const STORED: RqliteResponse = { results: [{}, {}, {}, {}] }
const OTHER_NUMBER: RqliteResponse = { results: [{}, { error: 'malformed JSON' }] }
const REFUSED: RqliteResponse = { results: [{}, {}, {}, { error: 'UNIQUE constraint failed: t.n' }] }

interface Step {
  /** An error: the client throws it. */
  readonly response: RqliteResponse | Error
  /** Requests before it without a response. */
  readonly lost?: number
}

/** Starts a sender whose cluster gives these responses. `numbers`: of the last stored batch, each time it is read. */
const start = async (steps: readonly Step[], numbers: readonly (number | null)[] = []) => {
  const [left, batches] = [[...steps], [0, ...numbers]]
  const client = {
    execute: async (_statements: readonly string[], { onLost = () => {} } = {}) => {
      const { response, lost = 0 } = left.shift() as Step
      for (let count = 0; count < lost; count += 1) onLost()
      if (response instanceof Error) throw response
      return response
    },
    query: async () => {
      const batch = batches.shift() ?? null
      return [batch === null ? [] : [{ batch }]]
    }
  }
  const sender = createBatchSender({ client, id: 'one' })
  await sender.start()
  const step = { statement: { sql: 'DROP TABLE t', params: [] }, position: 0, isAdded: false }
  return {
    send: () => sender.send(['["UPDATE t SET n = 1"]'], [CHECK], () => {}),
    sendAlone: () => sender.sendAlone([step], [CHECK], { foreignKeys: false }),
    left
  }
}

t.test('a batch is refused only if an earlier request cannot be stored any more', async (t) => {
  const refused = await start([{ response: REFUSED, lost: 1 }, { response: STORED }])
  t.match(await refused.send(), { kind: 'failed', index: 0 })
  t.strictSame(refused.left, [], 'the fence was sent')
})

t.test('an earlier request that was stored before the fence counts as stored', async (t) => {
  const late = await start([{ response: REFUSED, lost: 1 }, { response: OTHER_NUMBER }], [1])
  t.strictSame(await late.send(), { kind: 'lost' })
})

t.test('a fence that was stored without a response is followed by another one', async (t) => {
  const again = await start([{ response: REFUSED, lost: 1 }, { response: OTHER_NUMBER }, { response: STORED }], [2])
  t.match(await again.send(), { kind: 'failed' })
  t.strictSame(again.left, [])
})

t.test('without a response to the fence, the outcome is unknown', async (t) => {
  const silent = await start([{ response: REFUSED, lost: 1 }, { response: null }])
  t.match(await silent.send(), { kind: 'unknown', cause: { message: 'The cluster does not respond.' } })
})

t.test('a fence that fails for another reason is not repeated', async (t) => {
  const failing = await start([{ response: REFUSED, lost: 1 }, { response: { results: [{ error: 'no such table' }] } }])
  t.match(await failing.send(), { kind: 'unknown', cause: { message: 'no such table' } })
})

t.test(
  'after an error of the file of one node, the outcome is unknown: other nodes may have stored the batch',
  async (t) => {
    const full = await start([{ response: { results: [{}, {}, {}, { error: 'database or disk is full' }] } }])
    t.strictSame(await full.send(), { kind: 'unknown' })
  }
)

t.test('the row of a service that cannot be stored again', async (t) => {
  for (const response of [null, { results: [{ error: 'no such table' }] }]) {
    const gone = await start([{ response: OTHER_NUMBER }, { response }], [null])
    t.match(await gone.send(), { kind: 'unknown', cause: /row of this service/ })
    t.strictSame(gone.left, [])
  }
})

t.test('a request that the cluster refuses changes nothing, if no earlier one was lost', async (t) => {
  const error = new Error('401')
  t.strictSame(await (await start([{ response: error }])).send(), { kind: 'refused', error })
  t.strictSame(await (await start([{ response: error, lost: 1 }])).send(), { kind: 'unknown', cause: error })
})

t.test('an error outside of all statements fails the batch without a position', async (t) => {
  const failed = await start([{ response: { results: [], error: 'too big' } }])
  t.match(await failed.send(), { kind: 'failed', index: undefined, message: 'too big' })
  const alone = await start([{ response: { results: [], error: 'too big' } }])
  t.match(await alone.sendAlone(), { kind: 'failed', index: undefined, message: 'too big' })
})
