import t from 'tap'
import { createPasswords } from '../../../services/accounts/passwords.ts'
import { CHEAP } from '../../helpers.ts'

const passwords = createPasswords(CHEAP)
const costIn = (hash: string) => hash.split('$').slice(0, 4).join('$')

t.test('a hash is verified by its password', async (t) => {
  const hash = await passwords.hash('correct horse')
  t.equal(await passwords.verify(hash, 'correct horse'), true)
})

t.test('a hash is not verified by another password', async (t) => {
  const hash = await passwords.hash('correct horse')
  t.equal(await passwords.verify(hash, 'correct horsE'), false)
})

t.test('two hashes of a password differ', async (t) => {
  t.not(await passwords.hash('correct horse'), await passwords.hash('correct horse'))
})

t.test('the last of 256 characters counts', async (t) => {
  const hash = await passwords.hash(`${'x'.repeat(255)}a`)
  t.equal(await passwords.verify(hash, `${'x'.repeat(255)}a`), true)
  t.equal(await passwords.verify(hash, `${'x'.repeat(255)}b`), false)
})

t.test('a letter and its decomposed spelling are the same password', async (t) => {
  const hash = await passwords.hash('caf\u00e9 au lait')
  t.equal(await passwords.verify(hash, 'cafe\u0301 au lait'), true)
})

t.test('compatibility characters stay apart', async (t) => {
  const hash = await passwords.hash('\ufb01nance')
  t.equal(await passwords.verify(hash, 'finance'), false)
})

t.test('hashes are argon2id at the recommended cost unless told otherwise', async (t) => {
  t.equal(costIn(await createPasswords().hash('correct horse')), '$argon2id$v=19$m=19456,p=1,t=2')
})

t.test('the decoy costs what a real hash costs', async (t) => {
  t.equal(costIn(passwords.decoy), costIn(await passwords.hash('correct horse')))
  t.equal(passwords.decoy.length, (await passwords.hash('correct horse')).length)
})

t.test('no password verifies the decoy', async (t) => {
  t.equal(await passwords.verify(passwords.decoy, ''), false)
})

t.test('a hash is outdated when memory or time rose since', async (t) => {
  const hash = await passwords.hash('correct horse')
  t.equal(createPasswords({ ...CHEAP, memoryCost: 16 }).isOutdated(hash), true)
  t.equal(createPasswords({ ...CHEAP, timeCost: 2 }).isOutdated(hash), true)
})

t.test('a hash is not outdated at the present cost, nor when the cost fell', async (t) => {
  const hash = await createPasswords({ ...CHEAP, memoryCost: 16 }).hash('correct horse')
  t.equal(createPasswords({ ...CHEAP, memoryCost: 16 }).isOutdated(hash), false)
  t.equal(passwords.isOutdated(hash), false)
})

t.test('a stored text that is no hash is a fault, not a wrong password', async (t) => {
  await t.rejects(passwords.verify('plain text', 'plain text'))
})
