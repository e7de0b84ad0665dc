import t, { type Test } from 'tap'
import { asAdmin, dataOf } from '../helpers.ts'
import { runCommand, startLocalService } from './command.ts'

const ESCAPE = String.fromCharCode(27)
const styled = (start: number, text: string, end: number) => `${ESCAPE}[${start}m${text}${ESCAPE}[${end}m`
const red = (text: string) => styled(31, text, 39)
const green = (text: string) => styled(32, text, 39)

const start = async (t: Test) => {
  const { app, file, directory, options } = await startLocalService(t)
  const run =
    (...args: string[]) =>
    (outputs: Parameters<typeof runCommand>[1] = {}) =>
      runCommand([...args, ...(args[0] === 'check' ? [file, ...directory] : options)], outputs)
  return { app, run }
}

t.test('a terminal gets headings, errors, warnings and good results with styles', async (t) => {
  const { run } = await start(t)
  const terminal = { isTTY: true }
  const list = await run('token', 'list')(terminal)
  t.ok(list.stdout.startsWith(`${ESCAPE}[1mID`), list.stdout)
  t.equal((await run('health')(terminal)).stdout, `${green('ok')}\n`)
  t.ok((await run('check')(terminal)).stdout.startsWith(`${green('No problems.')}\n`))
  const failed = await run('token', 'revoke', '9')(terminal)
  t.ok(failed.stderr.startsWith(`${red('TOKEN_NOT_FOUND')}: There is no token`), failed.stderr)
  const created = await run('token', 'create', 'shop', '--tables', 'orders', '--actions', 'read')(terminal)
  t.ok(created.stderr.startsWith(`${ESCAPE}[33m`), created.stderr)
})

t.test('each output is a terminal or not, and variables override both', async (t) => {
  const { run } = await start(t)
  const health = run('health')
  const fail = run('token', 'revoke', '9')
  const hasStyle = async (output: 'stdout' | 'stderr', outputs: Parameters<typeof runCommand>[1]) =>
    (await (output === 'stdout' ? health : fail)(outputs))[output].includes(ESCAPE)
  for (const [outputs, stdout, stderr] of [
    [{}, false, false],
    [{ isTTY: true, isErrorTTY: false }, true, false],
    [{ isTTY: false, isErrorTTY: true }, false, true],
    [{ isTTY: true, env: { NO_COLOR: '1' } }, false, false],
    [{ isTTY: true, env: { NO_COLOR: '' } }, true, true],
    [{ env: { FORCE_COLOR: '1' } }, true, true],
    [{ isTTY: true, env: { FORCE_COLOR: '0' } }, false, false]
  ] as const) {
    t.equal(await hasStyle('stdout', outputs), stdout, JSON.stringify(outputs))
    t.equal(await hasStyle('stderr', outputs), stderr, JSON.stringify(outputs))
  }
})

t.test('output with --json has no styles', async (t) => {
  const { run } = await start(t)
  const outputs = { env: { FORCE_COLOR: '1' } }
  t.equal((await run('health', '--json')(outputs)).stdout, '{"status":"ok"}\n')
  t.notMatch((await run('token', 'list', '--json')(outputs)).stdout, ESCAPE)
  t.match(JSON.parse((await run('token', 'revoke', '9', '--json')(outputs)).stderr), { success: false })
  const created = await run('token', 'create', 'x', '--tables', 'no', '--actions', 'read', '--json')(outputs)
  t.match(created.stderr, /'no'/)
  t.notMatch(created.stderr, ESCAPE)
})

t.test('unprintable characters of names are escaped', async (t) => {
  const { app, run } = await start(t)
  const admin = await asAdmin(app)
  const permissions = { tables: ['*'], actions: ['read'] }
  dataOf(await admin.post('/admin/tokens', { name: `red${ESCAPE}[31m\u202eeman\u{e0001}ü`, permissions }))
  const { stdout } = await run('token', 'list')()
  t.match(stdout, 'red\\u001b[31m\\u202eeman\\udb40\\udc01ü  active')
  t.notMatch(stdout, ESCAPE)
  const failed = await run('token', 'create', `a${ESCAPE}`, '--tables', `b${ESCAPE}`, '--actions', 'read')()
  t.match(failed.stderr, 'b\\u001b')
  t.notMatch(failed.stderr, ESCAPE)
})

t.test('wrong usage is a text, or with --json the envelope of the API', async (t) => {
  const { run } = await start(t)
  const text = await run('fly')()
  t.match(text, { code: 2, stdout: '', stderr: /^error: unknown command 'fly'/ })
  for (const [args, message] of [
    [['fly', '--json'], /^unknown command 'fly'/],
    [['token', 'revoke', '--json'], /^missing required argument 'ID'/],
    [['token', 'list', '--json', '--far'], /^unknown option '--far'/]
  ] as const) {
    const wrong = await run(...args)()
    t.match(wrong, { code: 2, stdout: '' })
    t.match(JSON.parse(wrong.stderr), { success: false, error: { code: 'WRONG_USAGE', message } })
  }
  const help = await run('token', 'list', '--json', '--help')()
  t.match(help, { code: 0, stderr: '', stdout: /^Usage: / })
})
