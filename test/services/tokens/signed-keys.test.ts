import t from 'tap'
import type { KeyRole } from '../../../services/model/caller.ts'
import { createNamedKeys } from '../../../services/tokens/named-keys.ts'
import { createScope } from '../../../services/tokens/permissions.ts'
import { createSignedKeys } from '../../../services/tokens/signed-keys.ts'

const role = { id: 7, name: 'reader' } as never
const scopes: KeyRole[] = []
const keys = createNamedKeys({
  roles: { find: () => role, findByExactName: () => role },
  scopeOf: (key) => {
    scopes.push(key)
    return createScope({ tables: [], actions: [] })
  },
  clock: () => 0,
  onInvalid: (kind) => t.fail(kind)
})

t.test('1,000 requests with one JWT verify it once, and share its role', async (t) => {
  let verified = 0
  const signedKey = createSignedKeys({
    keys,
    verify: async (jwt) => {
      verified += 1
      return { name: jwt, roleName: 'reader', claims: { customer: 1 }, expiresAt: 1000 }
    }
  })
  const concurrent = await Promise.all(Array.from({ length: 500 }, () => signedKey('a.b.c')))
  const later = Array.from({ length: 500 }, () => signedKey('a.b.c'))
  t.equal(verified, 1)
  t.equal(new Set([...concurrent, ...later]).size, 1, 'one object, without a promise for the later ones')
  t.equal(scopes.length, 1)
  await signedKey('d.e.f')
  t.equal(verified, 2)
})

t.test('a JWT that was refused is verified again', async (t) => {
  let verified = 0
  const signedKey = createSignedKeys({
    keys,
    verify: async (jwt) => {
      verified += 1
      if (verified === 1) throw new Error('refused')
      return { name: jwt, roleName: 'reader', claims: {}, expiresAt: 1000 }
    }
  })
  await t.rejects(Promise.all([signedKey('a.b.c'), signedKey('a.b.c')]), { message: 'refused' })
  t.match(await signedKey('a.b.c'), { name: 'a.b.c' })
  t.equal(verified, 2)
})

t.test('cached keys have a limit in bytes', async (t) => {
  let verified = 0
  const signedKey = createSignedKeys({
    keys,
    verify: async (jwt) => {
      verified += 1
      return { name: jwt, roleName: 'reader', claims: { text: 'a'.repeat(2 ** 20) }, expiresAt: 1000 }
    }
  })
  for (let number = 0; number < 9; number += 1) await signedKey(`a.b.${number}`)
  await signedKey('a.b.8')
  t.equal(verified, 9)
  await signedKey('a.b.0')
  t.equal(verified, 10)
})
