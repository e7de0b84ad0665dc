import t from 'tap'
import { createCredentials } from '../../../services/accounts/credentials.ts'
import { createPasswords } from '../../../services/accounts/passwords.ts'
import { DomainError } from '../../../services/model/errors.ts'
import { CHEAP } from '../../helpers.ts'

const passwords = createPasswords(CHEAP)
const attempt = { name: 'admin', address: '192.0.2.1' }

/** Counts how often argon2 really works, and how many of its runs overlap. */
const createCounted = () => {
  let verifications = 0
  let running = 0
  let mostRunning = 0
  const counted = {
    ...passwords,
    verify: async (stored: string, password: string) => {
      verifications += 1
      running += 1
      mostRunning = Math.max(mostRunning, running)
      const isRight = await passwords.verify(stored, password)
      running -= 1
      return isRight
    }
  }
  return { counted, counts: () => ({ verifications, mostRunning }) }
}

const outcomeOf = (promise: Promise<string | null>) =>
  promise.then(
    (kept) => (kept === null ? 'wrong' : 'right'),
    (error) => (error instanceof DomainError ? error.code : String(error))
  )

const tally = (outcomes: readonly string[]) => {
  const counts = new Map<string, number>()
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return Object.fromEntries(counts)
}

t.test('the right password keeps the stored hash', async (t) => {
  const { hash, verify } = createCredentials(passwords)
  const stored = await hash('correct horse', attempt.address)
  t.equal(await verify(attempt, 'correct horse', stored), stored)
})

t.test('a wrong password gives null', async (t) => {
  const { hash, verify } = createCredentials(passwords)
  t.equal(await verify(attempt, 'wrong', await hash('correct horse', attempt.address)), null)
})

t.test('a name that does not exist costs a verification too, and gives null', async (t) => {
  const { counted, counts } = createCounted()
  t.equal(await createCredentials(counted).verify(attempt, 'correct horse', undefined), null)
  t.equal(counts().verifications, 1)
})

t.test('the right password of a hash made at a lower cost gives a stronger one', async (t) => {
  const stored = await passwords.hash('correct horse')
  const { verify } = createCredentials(createPasswords({ ...CHEAP, memoryCost: 16 }))
  const kept = await verify(attempt, 'correct horse', stored)
  t.match(kept, /m=16,/)
  t.equal(await passwords.verify(String(kept), 'correct horse'), true)
})

t.test('a wrong password of a hash made at a lower cost gives null', async (t) => {
  const stored = await passwords.hash('correct horse')
  const { verify } = createCredentials(createPasswords({ ...CHEAP, memoryCost: 16 }))
  t.equal(await verify(attempt, 'wrong', stored), null)
})

t.test('guesses sent at once pass the limit no further than one after the other', async (t) => {
  const { counted, counts } = createCounted()
  const { verify } = createCredentials(counted)
  const stored = await passwords.hash('correct horse')
  const guesses = Array.from({ length: 60 }, (_, index) => outcomeOf(verify(attempt, `guess ${index}`, stored)))
  t.same(tally(await Promise.all(guesses)), { wrong: 10, TOO_MANY_ATTEMPTS: 50 })
  t.same(counts(), { verifications: 10, mostRunning: 1 })
})

t.test('past the limit not even the right password is verified', async (t) => {
  const { counted, counts } = createCounted()
  const { verify } = createCredentials(counted)
  const stored = await passwords.hash('correct horse')
  for (let count = 0; count < 10; count += 1) await verify(attempt, 'wrong', stored)
  await t.rejects(verify(attempt, 'correct horse', stored), { code: 'TOO_MANY_ATTEMPTS' })
  t.equal(counts().verifications, 10)
})

t.test('past the limit of an attacker the owner of the name gets in from elsewhere', async (t) => {
  const { verify } = createCredentials(passwords)
  const stored = await passwords.hash('correct horse')
  for (let count = 0; count < 10; count += 1) await verify(attempt, 'wrong', stored)
  t.equal(await verify({ name: 'admin', address: '192.0.2.2' }, 'correct horse', stored), stored)
})

t.test('a success starts the count anew', async (t) => {
  const { verify } = createCredentials(passwords)
  const stored = await passwords.hash('correct horse')
  for (let round = 0; round < 3; round += 1) {
    for (let count = 0; count < 9; count += 1) t.equal(await verify(attempt, 'wrong', stored), null)
    t.equal(await verify(attempt, 'correct horse', stored), stored)
  }
})

t.test('the addresses of one IPv6 network share their count', async (t) => {
  const { verify } = createCredentials(passwords)
  for (let count = 0; count < 10; count += 1) {
    await verify({ name: 'admin', address: `2001:db8::${count}` }, 'wrong', undefined)
  }
  await t.rejects(verify({ name: 'admin', address: '2001:db8::ffff' }, 'wrong', undefined), {
    code: 'TOO_MANY_ATTEMPTS'
  })
  t.equal(await verify({ name: 'admin', address: '2001:db8:0:1::1' }, 'wrong', undefined), null)
})

t.test('more than fit in the queue are refused without counting as failures', async (t) => {
  const { verify } = createCredentials(passwords)
  const stored = await passwords.hash('correct horse')
  const crowd = Array.from({ length: 70 }, (_, index) =>
    outcomeOf(verify({ name: 'admin', address: `192.0.2.${index}` }, 'correct horse', stored))
  )
  t.same(tally(await Promise.all(crowd)), { right: 65, OVERLOADED: 5 })
})
