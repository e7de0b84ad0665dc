import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { localSocketPath } from '../../plugins/app/local-socket.ts'
import { asAdmin, createDatabase, importTable, temporaryDirectory } from '../helpers.ts'
import { runCommand, SHOP, startLocalService } from './command.ts'

const CSV = 'sku,title,price\nnib,Spare nib,3.5\n'

const startShop = async (t: Test) => {
  const service = await startLocalService(t)
  await importTable(await asAdmin(service.app), 'products')
  const data = join(temporaryDirectory(t), 'Products.CSV')
  writeFileSync(data, CSV)
  return { ...service, data }
}

t.test('import adds the records of a file, and export writes all', async (t) => {
  const { file, directory, data } = await startShop(t)
  const imported = await runCommand(['import', file, 'Products', data, ...directory])
  t.match(imported, { code: 0, stdout: '1 created, 0 changed.\n', stderr: '' })
  const exported = await runCommand(['export', file, 'products', '--query', 'order=price&size=2', ...directory])
  t.match(exported, { code: 0, stdout: '"sku","title","price"\r\n"nib","Spare nib",3.5\r\n"ink","Ink",8.0\r\n' })
  const target = join(temporaryDirectory(t), 'products.ndjson')
  const options = ['--format', 'ndjson', '--output', target, ...directory]
  t.match(await runCommand(['export', file, 'products', ...options]), { code: 0, stdout: '' })
  t.match(readFileSync(target, 'utf8').split('\n'), [/"ink"/, /"nib"/, /"pen"/, ''])
})

t.test('import reads standard input, and has the modes of the API', async (t) => {
  const { file, directory } = await startShop(t)
  const importRecords = (...options: string[]) =>
    runCommand(['import', file, 'products', '-', ...options, ...directory], { stdin: `${CSV}pen,Pen,20\n` })
  t.match(await importRecords('--format', 'csv'), { code: 1, stderr: /^IMPORT_FAILED: [\s\S]*'sku' has the value/ })
  const dryRun = await importRecords('--format', 'csv', '--dry-run', '--upsert')
  t.equal(dryRun.stdout, '1 created, 1 changed. This was a dry run: nothing was stored.\n')
  const upsert = await importRecords('--format', 'csv', '--upsert', 'sku', '--atomic', '--json')
  t.strictSame(JSON.parse(upsert.stdout), { rows: 2, created: 1, updated: 1, atomic: true, dryRun: false })
})

t.test('import --create makes the table from the file', async (t) => {
  const { file, directory, data, app } = await startShop(t)
  const created = await runCommand(['import', file, 'nibs', data, '--create', ...directory])
  t.match(created, { code: 0, stdout: '1 created, 0 changed.\n' })
  t.match((await (await asAdmin(app)).get('/admin/imports')).json(), {
    data: [{ callerKind: 'local', callerName: 'local' }]
  })
})

t.test('an unknown table, file or format is named', async (t) => {
  const { file, directory, data } = await startShop(t)
  const failure = async (...args: string[]) => (await runCommand([...args, ...directory])).stderr
  t.match(await failure('import', file, 'cats', data), /^COMMAND_FAILED: There is no registered table 'cats'/)
  t.match(await failure('export', file, 'cats'), /^COMMAND_FAILED: There is no registered table 'cats'/)
  t.match(
    await failure('import', file, 'products', 'missing.csv'),
    /^COMMAND_FAILED: There is no file .*missing\.csv\.\n$/
  )
  t.match(await failure('import', file, 'products', file), /^WRONG_USAGE: The format of '.*external.sqlite' is unknown/)
  t.match(await failure('export', file, 'products', '--format', 'xml'), /^VALIDATION_FAILED: /)
})

t.test('a terminal shows the progress', async (t) => {
  const { file, directory, data } = await startShop(t)
  const imported = await runCommand(['import', file, 'products', data, ...directory], { isTTY: true })
  t.match(imported, { code: 0, stderr: /MiB/ })
  const exported = await runCommand(['export', file, 'products', ...directory], { isTTY: true })
  t.match(exported, { code: 0, stderr: /MiB/ })
})

t.test('an export replaces its output only when it is whole, and never the database', async (t) => {
  const { file, directory } = await startShop(t)
  const target = join(temporaryDirectory(t), 'products.csv')
  writeFileSync(target, 'old')
  const failed = await runCommand([
    'export',
    file,
    'products',
    '--query',
    'order=gone',
    '--output',
    target,
    ...directory
  ])
  t.match(failed, { code: 1, stderr: /^VALIDATION_FAILED/ })
  t.equal(readFileSync(target, 'utf8'), 'old')
  t.match(await runCommand(['export', file, 'products', '--output', target, ...directory]), { code: 0 })
  t.match(readFileSync(target, 'utf8'), /^"sku"/)
  const lines = `${target}.ndjson`
  t.match(await runCommand(['export', file, 'products', '--output', lines, ...directory]), { code: 0 })
  t.match(readFileSync(lines, 'utf8'), /^{"sku"/)
  const database = await runCommand(['export', file, 'products', '--output', file, ...directory])
  t.match(database, { code: 1, stderr: /is the database\. Choose another file/ })
})

t.test('a file that cannot be read, or is too large, is an error of the import', async (t) => {
  const { file, directory } = await startShop(t)
  const folder = join(temporaryDirectory(t), 'folder.csv')
  mkdirSync(folder)
  const unreadable = await runCommand(['import', file, 'products', folder, ...directory])
  t.match(unreadable, { code: 1, stderr: /^COMMAND_FAILED: EISDIR/ })
  const wrong = join(folder, 'wrong.csv')
  writeFileSync(wrong, 'sku,title,price\nnib,Nib,1\ncap,Cap,many\n')
  const refused = await runCommand(['import', file, 'products', wrong, ...directory])
  t.match(refused, { code: 1, stderr: /\n {2}line 3: / })
})

t.test('a command does not reach the service of another database in the same directory', async (t) => {
  const { directory, options } = await startShop(t)
  const other = createDatabase(t, SHOP)
  const listed = await runCommand([
    'token',
    'create',
    'x',
    '--database',
    other,
    ...directory,
    '--tables',
    '*',
    '--actions',
    'read'
  ])
  t.match(listed, { code: 0 })
  t.match(JSON.parse((await runCommand(['token', 'list', ...options, '--json'])).stdout), [])
  const missing = await runCommand(['export', `${other}-gone`, 'products', ...directory])
  t.match(missing, { code: 1, stderr: /^COMMAND_FAILED: There is no database / })
})

t.test('an import sends the whole file, also if the service stops before it', async (t) => {
  const { app, file, directory } = await startShop(t)
  await app.close()
  const path = localSocketPath({ DATABASE: file, DATA_DIR: app.config.DATA_DIR })
  rmSync(path, { force: true })
  // It lists the tables, and is gone before the file is sent.
  const stopping = createServer((_request, response) => {
    response.setHeader('connection', 'close')
    response.end(JSON.stringify({ success: true, data: [{ id: 1, name: 'products' }] }))
    stopping.close()
  })
  await once(stopping.listen(path), 'listening')
  const lines = Array.from({ length: 20_000 }, (_, index) => `sku-${index},title,1`)
  const data = join(temporaryDirectory(t), 'many.csv')
  writeFileSync(data, ['sku,title,price', ...lines, ''].join('\n'))
  const imported = await runCommand(['import', file, 'products', data, ...directory])
  t.match(imported, { code: 0, stdout: '20000 created, 0 changed.\n' })
})
