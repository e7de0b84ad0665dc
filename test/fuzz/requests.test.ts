import t, { type Test } from 'tap'
import { scaled } from '../scale.ts'
import { LANES, type Reply, type Sent } from './caller.ts'
import { faultOf, operations } from './document.ts'
import { type Draft, draw, toRequest } from './draft.ts'
import { mutate } from './mutations.ts'
import { createRandom, SEED } from './random.ts'
import { learn, type Stage, setStage } from './stage.ts'
import { survives } from './survival.ts'

const COUNT = scaled(70_000)
/** Requests to one service: what it stores stays small, and each of them is drawn from a seed of its own. */
const ROUND = 5000
const BATCH = 4 * LANES

/** These would take the credentials away that everything else is sent with. */
const disarms = ({ method, target }: Sent) => {
  try {
    return method !== 'GET' && /^\/admin\/(?:tokens|admins)\/1(?![0-9])/.test(decodeURIComponent(target))
  } catch {
    return false
  }
}

/** Heads that are too large are refused before their method is known: HEAD gets a body then, which no client takes. */
const confuses = ({ method, target, headers }: Sent) =>
  method === 'HEAD' && target.length + Object.values(headers).join('').length > 50_000

const excerpt = (text: string | Buffer | undefined) => String(text ?? '').slice(0, 2000)

/** How often each operation was answered with each status. */
const seen = new Map<string, Map<number, number>>()

const count = (operationId: string, status: number) => {
  const statuses = seen.get(operationId) ?? new Map<number, number>()
  seen.set(operationId, statuses.set(status, (statuses.get(status) ?? 0) + 1))
}

/** `200: 1234, 400: 567` */
const summary = () => {
  const totals = new Map<number, number>()
  for (const statuses of seen.values())
    for (const [status, times] of statuses) totals.set(status, (totals.get(status) ?? 0) + times)
  return [...totals]
    .sort()
    .map(([status, times]) => `${status}: ${times}`)
    .join(', ')
}

const check = (t: Test, { operation }: Draft, sent: Sent, reply: Reply) => {
  const fault = faultOf({ ...sent, ...reply })
  if (fault !== undefined) {
    t.fail(`${sent.method} ${sent.target.slice(0, 80)}: ${fault}`, {
      sent: { ...sent, body: excerpt(sent.body) },
      answer: excerpt(reply.body)
    })
  }
  count(operation.operationId, reply.status)
}

const drawBatch = (stage: Stage, random: ReturnType<typeof createRandom>) => {
  const batch: (readonly [Draft, Sent])[] = []
  while (batch.length < BATCH) {
    const draft = mutate(draw(stage, random), random)
    const sent = toRequest(draft)
    if (!disarms(sent) && !confuses(sent)) batch.push([draft, sent])
  }
  return batch
}

const playRound = async (t: Test, seed: number, requests: number) => {
  const stage = await setStage(t)
  const random = createRandom(seed)
  for (let i = 0; i < requests; i += BATCH) {
    const batch = drawBatch(stage, random)
    const replies = await Promise.all(batch.map(([, sent]) => stage.call(sent)))
    for (const [index, [draft, sent]] of batch.entries()) {
      const reply = replies[index] as Reply
      check(t, draft, sent, reply)
      learn(stage, draft.operation, sent, reply)
    }
  }
  await survives(t, stage.service)
}

t.test('every answer to a generated request is in the document, and the service lives on', async (t) => {
  const start = Date.now()
  for (let done = 0; done < COUNT; done += ROUND) await playRound(t, SEED + done, Math.min(ROUND, COUNT - done))
  t.comment(`${COUNT} requests in ${((Date.now() - start) / 1000).toFixed(1)} s, SEED=${SEED}`)
  t.comment(summary())
})

t.test('every operation has succeeded, so that what was refused was refused for its fault', async (t) => {
  for (const { operationId } of operations) t.ok(seen.get(operationId)?.has(200), operationId)
})
