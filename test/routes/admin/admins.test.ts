import { EventEmitter, once } from 'node:events'
import t from 'tap'
import { type VerifyPassword, verifyPassword } from '../../../services/accounts/passwords.ts'
import { logIn, PASSWORD, startApp } from '../../helpers.ts'
import { createAdmin, createTestClock, loginRequest } from '../../session-app.ts'

const SUCCESS = { success: true, data: { success: true } }

t.test('/admin/admins', async (t) => {
  const { clock } = createTestClock()
  const app = await startApp(t, { clock })
  const headers = await logIn(app)
  const ada = await createAdmin(app, headers, 'ada')
  const request = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, payload?: object) =>
    app.inject({ method, url: `/admin/admins${path}`, headers, ...(payload && { payload }) })
  const create = (changes: object) =>
    request('POST', '', { name: 'charles', nickname: 'Charles', password: PASSWORD, ...changes })

  t.test('GET lists the administrators, with exactly the documented fields', async (t) => {
    const response = await request('GET', '')
    t.equal(response.statusCode, 200)
    const times = { created_at: clock(), updated_at: clock() }
    t.same(response.json(), {
      success: true,
      data: [
        { id: 1, name: 'admin', nickname: 'admin', must_change_password: 1, ...times },
        { id: 2, name: 'ada', nickname: 'ADA', must_change_password: 1, ...times }
      ]
    })
  })

  t.test('GET by id returns the administrator of the list', async (t) => {
    const response = await request('GET', '/2')
    t.equal(response.statusCode, 200)
    t.same(response.json(), { success: true, data: (await request('GET', '')).json().data[1] })
    const missing = await request('GET', '/99')
    t.equal(missing.statusCode, 404)
    t.match(missing.json(), { success: false, error: { code: 'ADMIN_NOT_FOUND' } })
  })

  t.test('POST creates an administrator who must change the password, and never shows it', async (t) => {
    const response = await create({ name: 'Bob ünder 日本', nickname: '' })
    t.equal(response.statusCode, 200)
    const { data } = response.json()
    t.same(response.json(), {
      success: true,
      data: {
        id: 3,
        name: 'Bob ünder 日本',
        nickname: '',
        must_change_password: 1,
        created_at: clock(),
        updated_at: clock()
      }
    })
    const login = await app.inject(loginRequest({ name: data.name }))
    t.match(login.json(), { success: true, data: { admin: { id: 3 }, mustChangePassword: true } })
  })

  t.test('POST without a nickname takes the name', async (t) => {
    const response = await request('POST', '', { name: 'grace', password: PASSWORD })
    t.equal(response.statusCode, 200)
    t.match(response.json(), { data: { name: 'grace', nickname: 'grace' } })
  })

  t.test('POST refuses an existing name, in any case', async (t) => {
    const response = await create({ name: 'ADA' })
    t.equal(response.statusCode, 409)
    t.match(response.json(), { success: false, error: { code: 'ADMIN_EXISTS' } })
  })

  t.test('POST accepts a name, nickname and password of maximum length', async (t) => {
    const response = await create({ name: 'x'.repeat(100), nickname: 'y'.repeat(200), password: 'z'.repeat(256) })
    t.equal(response.statusCode, 200)
    t.match(response.json(), { success: true, data: { name: 'x'.repeat(100) } })
  })

  const malformed: Record<string, object> = {
    'an empty name': { name: '' },
    'a name of 101 characters': { name: 'x'.repeat(101) },
    'a name with a line break': { name: 'a\nb' },
    'a name with a right-to-left override': { name: 'a\u202eb' },
    'a nickname of 201 characters': { nickname: 'x'.repeat(201) },
    'a nickname of null': { nickname: null },
    'a password of 7 characters': { password: '1234567' },
    'a password of 257 characters': { password: 'x'.repeat(257) },
    'a number for a password': { password: 12345678 },
    'no password': { password: undefined },
    'an unknown key': { must_change_password: 0 }
  }
  for (const [fault, changes] of Object.entries(malformed)) {
    t.test(`POST refuses ${fault}`, async (t) => {
      const before = (await request('GET', '')).json()
      const response = await create({ name: 'new', ...changes })
      t.equal(response.statusCode, 400)
      t.match(response.json(), { success: false, error: { code: 'VALIDATION_FAILED' } })
      t.same((await request('GET', '')).json(), before)
    })
  }

  t.test('PUT changes a nickname', async (t) => {
    const response = await request('PUT', '/2', { nickname: 'Countess' })
    t.equal(response.statusCode, 200)
    t.same(response.json(), SUCCESS)
    const listed = (await request('GET', '')).json().data[1]
    t.match(listed, { nickname: 'Countess' })
    t.ok(listed.updated_at > ada.updated_at)
  })

  t.test('PUT sets the password of another administrator and ends the sessions', async (t) => {
    const session = await logIn(app, 'ada')
    const response = await request('PUT', '/2', { password: 'set by another' })
    t.equal(response.statusCode, 200)
    t.same(response.json(), SUCCESS)
    t.equal((await app.inject({ url: '/auth/me', headers: session })).statusCode, 401)
    t.equal((await app.inject(loginRequest({ name: 'ada' }))).statusCode, 401)
    const login = await app.inject(loginRequest({ name: 'ada', password: 'set by another' }))
    t.match(login.json(), { success: true, data: { mustChangePassword: true } })
  })

  t.test('PUT refuses one’s own password, with a hint to PUT /auth/password', async (t) => {
    const response = await request('PUT', '/1', { password: 'battery staple' })
    t.equal(response.statusCode, 403)
    t.match(response.json(), { success: false, error: { code: 'OWN_PASSWORD', hint: /PUT \/auth\/password/ } })
    t.equal((await app.inject(loginRequest())).statusCode, 200)
  })

  t.test('PUT changes one’s own nickname', async (t) => {
    const response = await request('PUT', '/1', { nickname: 'Root' })
    t.equal(response.statusCode, 200)
    t.same(response.json(), SUCCESS)
  })

  t.test('PUT refuses an empty change, a name and invalid values', async (t) => {
    for (const payload of [{}, { name: 'other' }, { nickname: null }, { password: '1234567' }]) {
      const response = await request('PUT', '/2', payload)
      t.equal(response.statusCode, 400)
      t.match(response.json(), { success: false, error: { code: 'VALIDATION_FAILED' } })
    }
  })

  t.test('PUT and DELETE respond 404 to an unknown id', async (t) => {
    for (const response of [await request('PUT', '/999', { nickname: 'x' }), await request('DELETE', '/999')]) {
      t.equal(response.statusCode, 404)
      t.match(response.json(), { success: false, error: { code: 'ADMIN_NOT_FOUND' } })
    }
  })

  t.test('PUT and DELETE refuse an id that is not a positive decimal integer', async (t) => {
    for (const id of ['02', '0', '-1', '2.0', '1e1', 'ada', '9999999999']) {
      for (const response of [await request('PUT', `/${id}`, { nickname: 'x' }), await request('DELETE', `/${id}`)]) {
        t.equal(response.statusCode, 400)
        t.match(response.json(), { success: false, error: { code: 'VALIDATION_FAILED', details: [{ path: '/id' }] } })
      }
    }
  })

  t.test('DELETE removes an administrator', async (t) => {
    const response = await request('DELETE', '/2')
    t.equal(response.statusCode, 200)
    t.same(response.json(), SUCCESS)
    const remaining: { id: number }[] = (await request('GET', '')).json().data
    t.equal(
      remaining.some(({ id }) => id === 2),
      false
    )
  })

  t.test('DELETE refuses the last administrator', async (t) => {
    const others: { id: number }[] = (await request('GET', '')).json().data.slice(1)
    for (const { id } of others) t.equal((await request('DELETE', `/${id}`)).statusCode, 200)
    const response = await request('DELETE', '/1')
    t.equal(response.statusCode, 409)
    t.match(response.json(), { success: false, error: { code: 'LAST_ADMIN' } })
    t.equal((await request('GET', '')).statusCode, 200)
  })
})

t.test('a request is refused if its administrator is deleted while its password is queued for hashing', async (t) => {
  const queue = new EventEmitter()
  const verifyWhenReleased: VerifyPassword = async (stored, password) => {
    if (password === 'held') {
      queue.emit('held')
      await once(queue, 'released')
    }
    return verifyPassword(stored, password)
  }
  const app = await startApp(t, { verifyPassword: verifyWhenReleased })
  const root = await logIn(app)
  await createAdmin(app, root, 'kept')
  const { id } = await createAdmin(app, root, 'removed')
  const [kept, removed] = [await logIn(app, 'kept'), await logIn(app, 'removed')]
  const listed = async () => (await app.inject({ url: '/admin/admins', headers: root })).json().data
  const before = await listed()

  const isHeld = once(queue, 'held')
  const held = app.inject(loginRequest({ password: 'held' }))
  await isHeld
  const send = (headers: { cookie: string }, method: 'POST' | 'PUT', path: string, payload: object) =>
    app.inject({ method, url: `/admin/admins${path}`, headers, payload })
  const queued = [
    send(removed, 'POST', '', { name: 'back door', nickname: '', password: PASSWORD }),
    send(removed, 'PUT', '/1', { password: 'taken over' }),
    send(kept, 'POST', '', { name: 'newcomer', nickname: '', password: PASSWORD })
  ]
  const deleted = await app.inject({ method: 'DELETE', url: `/admin/admins/${id}`, headers: root })
  t.equal(deleted.statusCode, 200)
  queue.emit('released')
  await held
  const [created, reset, allowed] = await Promise.all(queued)
  for (const response of [created, reset]) {
    t.equal(response?.statusCode, 401)
    t.match(response?.json(), { success: false, error: { code: 'AUTHENTICATION_REQUIRED' } })
  }
  t.equal(allowed?.statusCode, 200, 'a request of another administrator succeeds')
  const remaining = before.filter((admin: { id: number }) => admin.id !== id)
  t.strictSame(await listed(), [...remaining, allowed?.json().data])
  t.equal((await app.inject(loginRequest())).statusCode, 200, 'the password has not changed')
})
