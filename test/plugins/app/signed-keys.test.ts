import { exportSPKI } from 'jose'
import t from 'tap'
import { serviceCaller } from '../../../services/model/caller.ts'
import { bearer } from '../../helpers.ts'
import { AUDIENCE, ISSUER, makeSigner } from '../../jwt-issuer.ts'
import { createTable, startTokenApp } from '../../token-app.ts'

t.test('the caller of a JWT', async (t) => {
  let now = Date.now()
  const signer = await makeSigner('first', () => now)
  const { app } = await startTokenApp(t, {
    clock: () => now,
    env: {
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      JWT_ROLE: 'reader',
      JWT_PUBLIC_KEY_FILE: `${t.testdir({ 'key.pem': await exportSPKI(signer.publicKey) })}/key.pem`
    }
  })
  await createTable(app, 'cats')
  const grants = [{ tables: ['cats'], actions: ['read' as const] }]
  const role = await app.roles.create(serviceCaller, { name: 'reader', grants })
  /** What happens during the request. */
  let during = async () => {}
  await app.register(async (area) => {
    area.addHook('onRoute', area.requireAction)
    area.addHook('onRequest', area.authenticateToken)
    area.get('/:table/during', { config: { action: 'read' } }, async ({ caller }) => {
      await during()
      await caller.confirm()
      return { kind: caller.kind, id: caller.id, name: caller.name, mayRead: caller.mayRead('cats') }
    })
  })
  const get = async () => app.inject({ url: '/cats/during', headers: bearer(await signer.sign()) })

  t.test('has the issuer and the subject as its name', async (t) => {
    t.strictSame((await get()).json(), { kind: 'token', id: 0, name: `${ISSUER} ann`, mayRead: true })
  })

  t.test('loses its right when the JWT expires', async (t) => {
    during = async () => {
      now += 604_000
    }
    t.equal((await get()).statusCode, 200, 'within the tolerance')
    during = async () => {
      now += 606_000
    }
    const response = await get()
    t.equal(response.statusCode, 401)
    t.match(response.json(), { error: { code: 'INVALID_TOKEN' } })
  })

  t.test('loses its right if the role changes', async (t) => {
    during = async () =>
      void (await app.roles.change(serviceCaller, role.id, {
        grants: [...grants, { tables: ['a'], actions: ['read'] }]
      }))
    t.match((await get()).json(), { error: { code: 'ACTION_NOT_ALLOWED', message: /changed during the request/ } })
  })

  t.test('loses its right if another role gets the name of its role', async (t) => {
    during = async () => {
      await app.roles.change(serviceCaller, role.id, { name: 'former' })
      await app.roles.create(serviceCaller, { name: 'reader', grants })
    }
    t.match((await get()).json(), { error: { code: 'ACTION_NOT_ALLOWED', message: /changed during the request/ } })
    during = async () => {}
    t.equal((await get()).statusCode, 200, 'the next request has the other role')
  })

  t.test('loses its right if the role is deleted', async (t) => {
    during = async () => {
      for (const { id } of app.roles.list()) await app.roles.remove(serviceCaller, id)
    }
    t.equal((await get()).statusCode, 401)
  })
})
