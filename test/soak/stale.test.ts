import t, { type Test } from 'tap'
import { PASSWORD } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { createClient } from './http-client.ts'
import { createRights, type MakeRight, type Right } from './rights.ts'

/** Requests sent after what ends a right has been acknowledged. */
const TRIES = scaled(1000)
/** Of these, how many at once, each on a connection of its own. */
const BURST = 8
/** Callers that go on asking meanwhile, each as soon as it is answered. */
const INSISTENT = 4
/** Bodies that are on their way when their right ends. */
const SLOW_BODIES = scaled(50)

const service = await startService(t)
/** The ends of rights travel on connections of their own. */
const rights = await createRights(createClient(t, service, 4), PASSWORD)
const client = createClient(t, service, BURST + INSISTENT)

const pick = ({ opens }: Right, index: number) => opens[index % opens.length] as Right['opens'][number]

const statusOf = async (right: Right, index: number) => (await client.send(pick(right, index))).status

/** Ends a right while others insist on it. Gives the answers to what was sent before and after the acknowledgement. */
const endWhileInUse = async (right: Right) => {
  const before: number[] = []
  const after: number[] = []
  let isEnded = false
  const ask = async (index: number) => {
    const responses = isEnded ? after : before
    responses.push(await statusOf(right, index))
  }
  const insist = async (index: number) => {
    await ask(index)
    while (!isEnded) await ask(index)
    await ask(index)
  }
  const insisting = Array.from({ length: INSISTENT }, (_, index) => insist(index))
  await right.end()
  isEnded = true
  await Promise.all([...insisting, ...Array.from({ length: BURST }, (_, index) => ask(index))])
  return { before, after }
}

const checkAtOnce = async (t: Test, makeRight: MakeRight) => {
  let [tries, stale, inTime] = [0, 0, 0]
  while (tries < TRIES) {
    const right = await makeRight()
    const { before, after } = await endWhileInUse(right)
    inTime += before.filter((status) => status === 200).length
    tries += after.length
    stale += after.filter((status) => status !== right.refusal).length
  }
  t.comment(`${stale} stale answers in ${tries} tries; ${inTime} successes before`)
  t.equal(stale, 0, `of ${tries} answers`)
  t.ok(inTime > 0, 'the right was one')
}

/** A body that was begun under a right. */
const beginBody = async (makeRight: MakeRight) => {
  const right = await makeRight()
  return { right, finish: await client.begin(pick(right, 0)) }
}

const checkSlowBody = async (t: Test, makeRight: MakeRight) => {
  const kept = await beginBody(makeRight)
  // What expires by itself may have done so.
  const allowed = (await kept.finish()).status
  t.ok(allowed === 200 || allowed === kept.right.refusal, `${allowed} where nobody ends the right`)
  const responses = await Promise.all(
    Array.from({ length: SLOW_BODIES }, async () => {
      const { right, finish } = await beginBody(makeRight)
      await right.end()
      return (await finish()).status === right.refusal
    })
  )
  t.equal(responses.filter((isRefused) => !isRefused).length, 0, `of ${responses.length} bodies`)
}

t.setTimeout(600_000)
for (const [kind, makeRight] of Object.entries(rights)) {
  t.test(`nothing that is sent after ${kind} has been acknowledged succeeds`, (t) => checkAtOnce(t, makeRight))
  t.test(`a body begun before ${kind} and ended after it is refused`, (t) => checkSlowBody(t, makeRight))
}
