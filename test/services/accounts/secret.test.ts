import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { assertSecret, readOrCreateSecret } from '../../../services/accounts/secret.ts'
import { temporaryDirectory } from '../../fixtures.ts'

const GOOD = '3f1c9a7be52d4860a1b7c3d95e8f2046'

const withSecret = (t: Test, content: string, mode = 0o600) => {
  const directory = temporaryDirectory(t)
  const file = join(directory, 'secret')
  writeFileSync(file, content)
  chmodSync(file, mode)
  return { directory, file }
}

t.test('the first start creates a secret of 32 random bytes that only its owner can read', async (t) => {
  const directory = temporaryDirectory(t)
  const secret = readOrCreateSecret(directory)
  t.match(secret, /^[0-9a-f]{64}$/)
  t.equal(statSync(join(directory, 'secret')).mode & 0o777, 0o600)
  t.same(readdirSync(directory), ['secret'])
})

t.test('the first start changes no other file of the directory', async (t) => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'secret.new'), 'mine')
  readOrCreateSecret(directory)
  t.equal(readFileSync(join(directory, 'secret.new'), 'utf8'), 'mine')
  t.same(readdirSync(directory), ['secret', 'secret.new'])
})

t.test('two first starts create two secrets', async (t) => {
  t.not(readOrCreateSecret(temporaryDirectory(t)), readOrCreateSecret(temporaryDirectory(t)))
})

t.test('a later start reads the same secret', async (t) => {
  const directory = temporaryDirectory(t)
  t.equal(readOrCreateSecret(directory), readOrCreateSecret(directory))
})

t.test('a secret written by hand is read without its line break', async (t) => {
  const { directory } = withSecret(t, `${GOOD}\n`)
  t.equal(readOrCreateSecret(directory), GOOD)
})

for (const mode of [0o640, 0o604, 0o620, 0o666]) {
  t.test(`a secret of mode ${mode.toString(8)} is refused`, async (t) => {
    const { directory, file } = withSecret(t, GOOD, mode)
    t.throws(() => readOrCreateSecret(directory), { message: `${file} can be read or written by other users.` })
  })
}

t.test('a secret that cannot be read is refused', async (t) => {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, 'secret'), { mode: 0o700 })
  t.throws(() => readOrCreateSecret(directory), { message: /secret cannot be read \(EISDIR\)\. .* or set JWT_SECRET/ })
})

t.test('a secret of mode 400 is accepted', async (t) => {
  const { directory } = withSecret(t, GOOD, 0o400)
  t.equal(readOrCreateSecret(directory), GOOD)
})

t.test('a truncated secret is refused, and the file is unchanged', async (t) => {
  const { directory, file } = withSecret(t, GOOD.slice(1))
  t.throws(() => readOrCreateSecret(directory), { message: `${file} is shorter than 32 bytes.` })
  t.equal(readFileSync(file, 'utf8'), GOOD.slice(1))
})

t.test('32 bytes are enough, in any characters', async (t) => {
  t.doesNotThrow(() => assertSecret(GOOD, 'JWT_SECRET'))
  t.doesNotThrow(() => assertSecret('äöüÄÖÜéèêáàâñß¿¡', 'JWT_SECRET'))
})

for (const secret of [
  'changemechangemechangemechangeme',
  'change-me-to-a-long-random-text-please',
  'your-jwt-secret-goes-here-0123456789',
  'a super secret key that is long enough',
  'example-3f1c9a7be52d4860a1b7c3d95e8f2046',
  '00000000000000000000000000000000',
  '0123456789012345678901234567890123',
  'passwordpasswordpasswordpasswordpass'
]) {
  t.test(`the placeholder '${secret}' is refused`, async (t) => {
    t.throws(() => assertSecret(secret, 'JWT_SECRET'), { message: /^JWT_SECRET can be guessed\. Use a random secret/ })
  })
}

t.test('the error does not contain the secret', async (t) => {
  try {
    assertSecret('changemechangemechangemechangeme', 'JWT_SECRET')
  } catch (error) {
    t.notMatch(String(error), /changeme/)
  }
})
