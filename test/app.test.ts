import t from 'tap'
import { PASSWORD, startApp } from './helpers.ts'

const logIn = { method: 'POST', url: '/auth/login', payload: { name: 'admin', password: PASSWORD } } as const
const forwarded = { 'x-forwarded-proto': 'https' }

t.test('a proxy is believed only where TRUST_PROXY names it', async (t) => {
  const trusting = await startApp(t, { env: { TRUST_PROXY: '127.0.0.1' } })
  const [secure] = (await trusting.inject({ ...logIn, headers: forwarded })).cookies
  t.match(secure, { name: '__Host-rowhouse_session', secure: true, httpOnly: true, sameSite: 'Strict', path: '/' })

  const wary = await startApp(t)
  const [plain] = (await wary.inject({ ...logIn, headers: forwarded })).cookies
  t.match(plain, { name: 'rowhouse_session', secure: undefined, httpOnly: true, sameSite: 'Strict', path: '/' })
})
