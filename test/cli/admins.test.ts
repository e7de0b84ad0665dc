import t from 'tap'
import { client, createDatabase, logIn } from '../helpers.ts'
import { runCommand, startLocalService } from './command.ts'

const passwordIn = (output: string) => /^password {2}(\S+)$/m.exec(output)?.[1] ?? ''

t.test('admin create prints a random password, which must be changed', async (t) => {
  const { app, options } = await startLocalService(t, { REQUIRE_PASSWORD_CHANGE: 'true' })
  const created = await runCommand(['admin', 'create', 'ann', '--nickname', 'Ann', ...options])
  t.match(created, { code: 0, stdout: /^id {8}2\nname {6}ann\npassword {2}\S{24}\n$/, stderr: '' })
  const ann = client(app, await logIn(app, 'ann', passwordIn(created.stdout)))
  t.match((await ann.get('/auth/me')).json(), { data: { nickname: 'Ann', mustChangePassword: true } })
  t.equal((await ann.get('/admin/tables')).statusCode, 403)

  const again = await runCommand(['admin', 'create', 'ANN', ...options])
  t.match(again, { code: 1, stderr: /^ADMIN_EXISTS: / })
})

t.test('admin reset-password sets a password from standard input, and ends all sessions', async (t) => {
  const { app, options } = await startLocalService(t)
  const session = client(app, await logIn(app))
  t.equal((await session.get('/auth/me')).statusCode, 200)
  const reset = ['admin', 'reset-password', 'Admin', '--password-stdin', '--json', ...options]
  const done = await runCommand(reset, { stdin: 'a new secret\nnot this\n' })
  t.match(done, { code: 0, stdout: '{"id":1,"name":"admin"}\n' })
  t.equal((await session.get('/auth/me')).statusCode, 401)
  t.match(await logIn(app, 'admin', 'a new secret'), { cookie: /./ })
})

t.test('a password that is too short is refused, and so is an unknown name', async (t) => {
  const { options } = await startLocalService(t)
  const short = await runCommand(['admin', 'reset-password', 'admin', '--password-stdin', ...options], {
    stdin: 'short'
  })
  t.match(short, { code: 1, stderr: /at least 8 characters/ })
  const unknown = await runCommand(['admin', 'reset-password', 'bob', ...options])
  t.match(unknown, {
    code: 1,
    stderr: "COMMAND_FAILED: There is no administrator named 'bob'. Administrators: admin.\n"
  })
  const empty = createDatabase(t, '')
  const none = await runCommand(['admin', 'reset-password', 'bob', '--database', empty])
  t.match(none, { code: 1, stderr: /There is no administrator named 'bob'\. Administrators: none yet\.\n$/ })
})
