import t from 'tap'
import { createPasswords } from '../../../services/accounts/passwords.ts'
import { CHEAP } from '../../fixtures.ts'

const passwords = createPasswords(CHEAP)
const costIn = (hash: string) => hash.split('$').slice(0, 4).join('$')

t.test('a hash matches its password', async (t) => {
  const hash = await passwords.hash('correct horse')
  t.equal(await passwords.verify(hash, 'correct horse'), true)
})

t.test('a hash does not match another password', async (t) => {
  const hash = await passwords.hash('correct horse')
  t.equal(await passwords.verify(hash, 'correct horsE'), false)
})

t.test('two hashes of a password differ', async (t) => {
  t.not(await passwords.hash('correct horse'), await passwords.hash('correct horse'))
})

t.test('the last of 256 characters is significant', async (t) => {
  const hash = await passwords.hash(`${'x'.repeat(255)}a`)
  t.equal(await passwords.verify(hash, `${'x'.repeat(255)}a`), true)
  t.equal(await passwords.verify(hash, `${'x'.repeat(255)}b`), false)
})

t.test('a letter and its decomposed form are the same password', async (t) => {
  const hash = await passwords.hash('caf\u00e9 au lait')
  t.equal(await passwords.verify(hash, 'cafe\u0301 au lait'), true)
})

t.test('compatibility characters are different passwords', async (t) => {
  const hash = await passwords.hash('\ufb01nance')
  t.equal(await passwords.verify(hash, 'finance'), false)
})

t.test('hashes are argon2id at the recommended cost by default', async (t) => {
  t.equal(costIn(await createPasswords().hash('correct horse')), '$argon2id$v=19$m=19456,p=1,t=2')
})

t.test('the dummy hash has the cost of a real hash', async (t) => {
  t.equal(costIn(passwords.dummyHash), costIn(await passwords.hash('correct horse')))
  t.equal(passwords.dummyHash.length, (await passwords.hash('correct horse')).length)
})

t.test('an empty password does not match the dummy hash', async (t) => {
  t.equal(await passwords.verify(passwords.dummyHash, ''), false)
})

t.test('a hash is outdated when the memory or time cost is higher now', async (t) => {
  const hash = await passwords.hash('correct horse')
  t.equal(createPasswords({ ...CHEAP, memoryCost: 16 }).isOutdated(hash), true)
  t.equal(createPasswords({ ...CHEAP, timeCost: 2 }).isOutdated(hash), true)
})

t.test('a hash is not outdated when the cost is the same or lower now', async (t) => {
  const hash = await createPasswords({ ...CHEAP, memoryCost: 16 }).hash('correct horse')
  t.equal(createPasswords({ ...CHEAP, memoryCost: 16 }).isOutdated(hash), false)
  t.equal(passwords.isOutdated(hash), false)
})

t.test('a stored text that is not a hash throws', async (t) => {
  await t.rejects(passwords.verify('plain text', 'plain text'))
})
