import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { type BackupClient, createBackupClient } from './backup-client.ts'
import { temporaryDirectory } from './fixtures.ts'
import { contentOf, copyOldDatabase, type OldDatabase, oldDatabases } from './old-databases.ts'
import { plainNode } from './plain-process.ts'
import { startService, withPreload } from './service-process.ts'
import { createShop } from './shop-app.ts'

const GUIDE = readFileSync('docs/guides/day-two.md', 'utf8')

interface Step {
  readonly commands: string
  /** null: the guide shows no output. */
  readonly output: string | null
}

/** Returns the commands of a section of the guide, each with the output that the guide shows. */
const stepsOf = (number: number): Step[] => {
  const [section = ''] = new RegExp(`^## ${number}\\. .*?(?=^## |$(?![^]))`, 'ms').exec(GUIDE) ?? []
  return [...section.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```)?/gms)].map(([, commands = '', output]) => ({
    commands,
    output: output ?? null
  }))
}

const patternOf = (output: string) => {
  const parts = output.trim().split('…')
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^]*?')}$`)
}

/** A directory with the database of the README, a directory of backups, and the program `rowhouse`. */
const prepare = (t: Test) => {
  const directory = temporaryDirectory(t)
  createShop(directory)
  const database = join(directory, 'shop.sqlite')
  const dataDir = `${database}-rowhouse`
  const backups = join(dataDir, 'backups')
  const bin = join(directory, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'rowhouse'), `#!/bin/sh\nexec ${plainNode().join(' ')} ${resolve('dist/rowhouse.js')} "$@"\n`)
  chmodSync(join(bin, 'rowhouse'), 0o755)

  /** Runs the commands of a section, or a part of them. `names`: texts of the guide that are different here. */
  const run = (
    number: number,
    names: Readonly<Record<string, string>> = {},
    part: readonly [number?, number?] = []
  ) => {
    const steps = stepsOf(number).slice(...part)
    t.ok(steps.length > 0, `the guide has commands for drill ${number}`)
    for (const { commands, output } of steps) {
      const script = Object.entries(names).reduce((text, [name, actual]) => text.replaceAll(name, actual), commands)
      const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, DATA_DIR: undefined, PORT: '0' }
      const result = spawnSync('bash', ['-c', script], { cwd: directory, encoding: 'utf8', env })
      const printed = `${result.stdout}${result.stderr}`.trim()
      if (output === null) t.equal(result.status, 0, printed)
      else t.match(printed, patternOf(output), commands)
    }
  }

  const start = async (env: Record<string, string> = {}) => {
    const service = await startService(t, { DATABASE: database, DATA_DIR: dataDir, ...env }, { cwd: directory })
    const client = await createBackupClient(service.address)
    return { service, client, ...client }
  }
  return { directory, database, dataDir, backups, run, start }
}

const importAll = ({ call }: BackupClient) => call('POST', '/tables/import', { names: ['*'] })

const issueToken = async ({ call }: BackupClient, expiresAt: number | null = null) => {
  const permissions = { tables: ['*'], actions: ['read', 'create'] }
  return ((await call('POST', '/tokens', { name: 'reader', permissions, expiresAt })) as { token: string }).token
}

const PRODUCTS = '/data/products/records'

const statusOf = async (address: string, token: string, sku = 'pen') => {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${address}${PRODUCTS}/${sku}`, { headers })
  await response.text()
  return response.status
}

const createProduct = async (address: string, token: string, sku: string) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ sku, title: 'x'.repeat(10_000), price: 1 })
  const response = await fetch(`${address}${PRODUCTS}`, { method: 'POST', headers, body })
  return { status: response.status, body: await response.text() }
}

const drill = (number: number, name: string, run: (t: Test, start: () => void) => Promise<void>) =>
  t.test(`drill ${number}: ${name}`, async (t) => {
    let begin = performance.now()
    await run(t, () => {
      begin = performance.now()
    })
    t.comment(`drill ${number} took ${((performance.now() - begin) / 1000).toFixed(1)} s`)
  })

drill(1, 'a disk is lost', async (t, begin) => {
  const { database, dataDir, start, run } = prepare(t)
  const backups = temporaryDirectory(t)
  const lost = await start({ BACKUP_DIR: backups })
  await importAll(lost)
  const token = await issueToken(lost)
  const { name } = await lost.create()
  // As if the schedule had made it.
  renameSync(join(backups, name), join(backups, name.replace('manual', 'scheduled')))
  await lost.service.end('SIGKILL')
  for (const end of ['', '-wal', '-shm']) rmSync(`${database}${end}`, { force: true })
  rmSync(dataDir, { recursive: true })
  begin()
  run(1, { '/mnt/backups': backups })
  const { service } = await start({ BACKUP_DIR: backups })
  t.equal(await statusOf(service.address, token), 200)
})

drill(2, 'a password is lost', async (t, begin) => {
  const { start, run } = prepare(t)
  const { client, service } = await start()
  begin()
  run(2)
  await t.rejects(client.list(), /SESSION|AUTH/, 'the session has ended')
  await t.rejects(createBackupClient(service.address), /INVALID_CREDENTIALS/, 'the old password is refused')
})

drill(3, 'a token has leaked', async (t, begin) => {
  const { start, run } = prepare(t)
  const { client, service } = await start()
  await importAll(client)
  const token = await issueToken(client)
  const other = await issueToken(client)
  t.equal(await statusOf(service.address, token), 200)
  begin()
  run(3)
  t.equal(await statusOf(service.address, token), 401)
  t.equal(await statusOf(service.address, other), 200)
})

drill(4, 'an upgrade, and back', async (t, begin) => {
  const { database, dataDir, run } = prepare(t)
  const old = oldDatabases.at(-1) as OldDatabase
  copyFileSync(copyOldDatabase(t, old), database)
  const before = contentOf(database)
  const service = () => startService(t, { DATABASE: database, DATA_DIR: dataDir })
  begin()
  run(4, {}, [0, 1])
  t.ok(contentOf(database).equals(before), 'a dry run changes nothing')
  const upgraded = await service()
  t.match(upgraded.lines.join('\n'), /Upgraded the tables of Rowhouse/)
  await upgraded.end('SIGTERM')
  t.notOk(contentOf(database).equals(before))
  run(4, {}, [1, 2])
  t.ok(contentOf(database).equals(before), 'the file is as before the upgrade')
})

drill(5, 'the disk is full', async (t, begin) => {
  const { dataDir, database, backups, start, run } = prepare(t)
  mkdirSync(backups, { recursive: true })
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'none', dataDir]).status !== 0)
    return void t.skip('a small disk can only be mounted by root', () => {})
  t.teardown(() => spawnSync('umount', ['--lazy', dataDir]))
  mkdirSync(backups)
  const moved = join(dataDir, 'shop.sqlite')
  spawnSync('mv', [database, moved])
  writeFileSync(join(backups, '2026-11-25T03-00-00Z-scheduled.db'), Buffer.alloc(8_000_000))
  const { client, service } = await start({ DATABASE: moved })
  await importAll(client)
  const token = await issueToken(client)
  let index = 0
  const fill = async () => {
    for (; index < 2000; index += 1) {
      const created = await createProduct(service.address, token, `full-${index}`)
      if (created.status !== 200) return created
    }
    return null
  }
  t.match(await fill(), { status: 507, body: /DISK_FULL/ })
  t.equal(await statusOf(service.address, token), 200, 'reads go on')
  begin()
  run(5)
  t.equal((await createProduct(service.address, token, 'after')).status, 200, 'without a restart')
})

drill(6, 'the clock was wrong', async (t, begin) => {
  const { backups, start, run } = prepare(t)
  const DAY = 86_400_000
  const right = await start()
  await importAll(right)
  const token = await issueToken(right, Date.now() + 30 * DAY)
  await right.service.end('SIGTERM')
  const ahead = await start(withPreload(`const { now } = Date; Date.now = () => now() + ${365 * DAY}`))
  t.equal(await statusOf(ahead.service.address, token), 401)
  const { name } = await ahead.create()
  await ahead.service.end('SIGTERM')
  begin()
  run(6, { '2027-': name.slice(0, 5) })
  t.notOk(existsSync(join(backups, name)))
  const again = await start()
  t.equal(await statusOf(again.service.address, token), 200)
})

drill(7, 'back to last week', async (t, begin) => {
  const { start, run } = prepare(t)
  const { client, service } = await start()
  await importAll(client)
  const { name } = await client.create()
  const token = await issueToken(client)
  await createProduct(service.address, token, 'late')
  begin()
  run(7, { '2026-11-19T03-00-00Z-scheduled.db': name })
  t.equal(await statusOf(service.address, token, 'late'), 404)
  t.equal(await statusOf(service.address, token), 200, 'a token that was issued later works')
})

drill(8, 'the wrong backup was restored', async (t, begin) => {
  const { start, run } = prepare(t)
  const { client, service } = await start()
  await importAll(client)
  const token = await issueToken(client)
  const wrong = await client.create()
  await createProduct(service.address, token, 'late')
  const { before } = await client.restore(wrong.name)
  t.equal(await statusOf(service.address, token, 'late'), 404)
  begin()
  run(8, { '2026-11-26T14-10-00Z-before-restore.db': before.name })
  t.equal(await statusOf(service.address, token, 'late'), 200)
})

drill(9, 'the service was killed during a backup', async (t, begin) => {
  const { backups, start, run } = prepare(t)
  const { client, service } = await start()
  client.create().catch(() => {})
  while (readdirSync(backups).length === 0) await client.list()
  await service.end('SIGKILL')
  const partial = readdirSync(backups)
  t.match(partial, [/\.partial/])
  begin()
  await start()
  t.strictSame(readdirSync(backups), [])
  run(9)
  t.match(readdirSync(backups).at(-1), /-manual\.db$/)
})

drill(10, 'a second service was started', async (t, begin) => {
  const { start, run } = prepare(t)
  const { client, service } = await start()
  await importAll(client)
  const token = await issueToken(client)
  begin()
  run(10, { '--port 3001': '--port 0' })
  t.equal((await createProduct(service.address, token, 'after')).status, 200)
})
