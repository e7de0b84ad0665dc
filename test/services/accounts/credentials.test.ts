import t from 'tap'
import { createCredentials } from '../../../services/accounts/credentials.ts'
import { createPasswords } from '../../../services/accounts/passwords.ts'
import { DomainError } from '../../../services/model/errors.ts'
import { CHEAP } from '../../fixtures.ts'

const passwords = createPasswords(CHEAP)
const attempt = { name: 'admin', address: '192.0.2.1' }

/** Counts the calls of argon2, and how many of them overlap. */
const createCounted = () => {
  let verifications = 0
  let running = 0
  let maxRunning = 0
  const counted = {
    ...passwords,
    verify: async (stored: string, password: string) => {
      verifications += 1
      running += 1
      maxRunning = Math.max(maxRunning, running)
      const isMatch = await passwords.verify(stored, password)
      running -= 1
      return isMatch
    }
  }
  return { counted, counts: () => ({ verifications, maxRunning }) }
}

const outcomeOf = (promise: Promise<string | null>) =>
  promise.then(
    (hash) => (hash === null ? 'wrong' : 'right'),
    (error) => (error instanceof DomainError ? error.code : String(error))
  )

const tally = (outcomes: readonly string[]) => {
  const counts = new Map<string, number>()
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return Object.fromEntries(counts)
}

t.test('the right password returns the stored hash', async (t) => {
  const { hash, verify } = createCredentials(passwords)
  const stored = await hash('correct horse', attempt.address)
  t.equal(await verify(attempt, 'correct horse', stored), stored)
})

t.test('a wrong password returns null', async (t) => {
  const { hash, verify } = createCredentials(passwords)
  t.equal(await verify(attempt, 'wrong', await hash('correct horse', attempt.address)), null)
})

t.test('a name that does not exist costs a verification too, and returns null', async (t) => {
  const { counted, counts } = createCounted()
  t.equal(await createCredentials(counted).verify(attempt, 'correct horse', undefined), null)
  t.equal(counts().verifications, 1)
})

t.test('the right password returns a stronger hash if the stored one has a lower cost', async (t) => {
  const stored = await passwords.hash('correct horse')
  const { verify } = createCredentials(createPasswords({ ...CHEAP, memoryCost: 16 }))
  const hash = await verify(attempt, 'correct horse', stored)
  t.match(hash, /m=16,/)
  t.equal(await passwords.verify(String(hash), 'correct horse'), true)
})

t.test('a wrong password returns null, even if the stored hash has a lower cost', async (t) => {
  const stored = await passwords.hash('correct horse')
  const { verify } = createCredentials(createPasswords({ ...CHEAP, memoryCost: 16 }))
  t.equal(await verify(attempt, 'wrong', stored), null)
})

t.test('concurrent guesses have the same limit as sequential ones', async (t) => {
  const { counted, counts } = createCounted()
  const { verify } = createCredentials(counted)
  const stored = await passwords.hash('correct horse')
  const guesses = Array.from({ length: 60 }, (_, index) => outcomeOf(verify(attempt, `guess ${index}`, stored)))
  t.same(tally(await Promise.all(guesses)), { wrong: 10, TOO_MANY_ATTEMPTS: 50 })
  t.same(counts(), { verifications: 10, maxRunning: 1 })
})

t.test('above the limit, the right password is not verified either', async (t) => {
  const { counted, counts } = createCounted()
  const { verify } = createCredentials(counted)
  const stored = await passwords.hash('correct horse')
  for (let count = 0; count < 10; count += 1) await verify(attempt, 'wrong', stored)
  await t.rejects(verify(attempt, 'correct horse', stored), { code: 'TOO_MANY_ATTEMPTS' })
  t.equal(counts().verifications, 10)
})

t.test('an attacker at the limit does not lock out the owner at another address', async (t) => {
  const { verify } = createCredentials(passwords)
  const stored = await passwords.hash('correct horse')
  for (let count = 0; count < 10; count += 1) await verify(attempt, 'wrong', stored)
  t.equal(await verify({ name: 'admin', address: '192.0.2.2' }, 'correct horse', stored), stored)
})

t.test('a success resets the count', async (t) => {
  const { verify } = createCredentials(passwords)
  const stored = await passwords.hash('correct horse')
  for (let round = 0; round < 3; round += 1) {
    for (let count = 0; count < 9; count += 1) t.equal(await verify(attempt, 'wrong', stored), null)
    t.equal(await verify(attempt, 'correct horse', stored), stored)
  }
})

t.test('addresses of one IPv6 network share a count', async (t) => {
  const { verify } = createCredentials(passwords)
  for (let count = 0; count < 10; count += 1) {
    await verify({ name: 'admin', address: `2001:db8::${count}` }, 'wrong', undefined)
  }
  await t.rejects(verify({ name: 'admin', address: '2001:db8::ffff' }, 'wrong', undefined), {
    code: 'TOO_MANY_ATTEMPTS'
  })
  t.equal(await verify({ name: 'admin', address: '2001:db8:0:1::1' }, 'wrong', undefined), null)
})

t.test('attempts above the capacity of the queue are refused, and do not count as failures', async (t) => {
  const { verify } = createCredentials(passwords)
  const stored = await passwords.hash('correct horse')
  const attempts = Array.from({ length: 70 }, (_, index) =>
    outcomeOf(verify({ name: 'admin', address: `192.0.2.${index}` }, 'correct horse', stored))
  )
  t.same(tally(await Promise.all(attempts)), { right: 65, OVERLOADED: 5 })
})
