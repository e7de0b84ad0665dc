import t, { type Test } from 'tap'
import { PASSWORD } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { createClient } from './http-client.ts'
import { type CreateRight, createRights, type Right } from './rights.ts'

/** Number of requests sent after the end of a right was acknowledged. */
const TRIES = scaled(1000)
/** Number of these requests that are sent concurrently, each on its own connection. */
const BURST = 8
/** Clients that send requests continuously while the right ends. */
const CONTINUOUS = 4
/** Number of request bodies that are incomplete when the right ends. */
const SLOW_BODIES = scaled(50)

const service = await startService(t)
/** Rights are created and ended over separate connections. */
const rights = await createRights(createClient(t, service, 4), PASSWORD)
const client = createClient(t, service, BURST + CONTINUOUS)

const pick = ({ requests }: Right, index: number) => requests[index % requests.length] as Right['requests'][number]

const statusOf = async (right: Right, index: number) => (await client.send(pick(right, index))).status

/** Ends a right while clients use it. Returns the statuses of requests sent before and after the acknowledgement. */
const endWhileInUse = async (right: Right) => {
  const before: number[] = []
  const after: number[] = []
  let isEnded = false
  const sendOne = async (index: number) => {
    const statuses = isEnded ? after : before
    statuses.push(await statusOf(right, index))
  }
  const sendContinuously = async (index: number) => {
    await sendOne(index)
    while (!isEnded) await sendOne(index)
    await sendOne(index)
  }
  const continuous = Array.from({ length: CONTINUOUS }, (_, index) => sendContinuously(index))
  await right.end()
  isEnded = true
  await Promise.all([...continuous, ...Array.from({ length: BURST }, (_, index) => sendOne(index))])
  return { before, after }
}

const checkLaterRequests = async (t: Test, createRight: CreateRight) => {
  let [tries, stale, successes] = [0, 0, 0]
  while (tries < TRIES) {
    const right = await createRight()
    const { before, after } = await endWhileInUse(right)
    successes += before.filter((status) => status === 200).length
    tries += after.length
    stale += after.filter((status) => status !== right.statusAfterEnd).length
  }
  t.comment(`${stale} stale responses in ${tries} tries; ${successes} successes before the end`)
  t.equal(stale, 0, `of ${tries} responses`)
  t.ok(successes > 0, 'the right was valid before its end')
}

/** Creates a right and begins a request whose body is incomplete. */
const beginBody = async (createRight: CreateRight) => {
  const right = await createRight()
  return { right, finish: await client.begin(pick(right, 0)) }
}

const checkSlowBody = async (t: Test, createRight: CreateRight) => {
  const kept = await beginBody(createRight)
  // A right that expires by itself may have ended already.
  const allowed = (await kept.finish()).status
  t.ok(allowed === 200 || allowed === kept.right.statusAfterEnd, `${allowed} if the right is not ended`)
  const rejections = await Promise.all(
    Array.from({ length: SLOW_BODIES }, async () => {
      const { right, finish } = await beginBody(createRight)
      await right.end()
      return (await finish()).status === right.statusAfterEnd
    })
  )
  t.equal(rejections.filter((isRejected) => !isRejected).length, 0, `of ${rejections.length} bodies`)
}

t.setTimeout(600_000)
for (const [kind, createRight] of Object.entries(rights)) {
  t.test(`after ${kind} is acknowledged, no new request succeeds`, (t) => checkLaterRequests(t, createRight))
  t.test(`a request whose body begins before ${kind} and ends after it fails`, (t) => checkSlowBody(t, createRight))
}
