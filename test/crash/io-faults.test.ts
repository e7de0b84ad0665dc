import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { logIn, prepare } from './access.ts'
import { CLIENTS, startClients } from './clients.ts'
import { createHttp } from './http.ts'
import { compileInterposer, noInterposer } from './interposer.ts'
import { createLedger } from './ledger.ts'
import { readDatabase, readService } from './oracle.ts'

/** Successful writes before the disk fails, all writes while it fails, and successful writes after it is repaired. */
const WRITES_BEFORE = Math.min(500, scaled(10_000))
const WRITES_DURING = scaled(20_000)
/** Of random faults, fewer writes may not meet each kind. */
const WRITES_DURING_RANDOM = Math.max(2000, WRITES_DURING)
const WRITES_AFTER = scaled(5000)

const sum = (counts: ReadonlyMap<number, number>) => [...counts.values()].reduce((total, count) => total + count, 0)

/** Without 409: an import ends with IMPORT_STOPPED if the disk fails between two of its steps. */
const statusesOf = (counts: ReadonlyMap<number, number>) => [...counts.keys()].filter((status) => status !== 409).sort()

const interposer = noInterposer ? {} : compileInterposer(t, 'io-faults.c')

/** A disk that fails at these rates, in per cent of the system calls, from `fail` to `repair`. */
const createFailingDisk = (t: Test, rates: Record<string, string>) => {
  const root = realpathSync(temporaryDirectory(t))
  const [faults, log] = [join(root, 'faults'), join(root, 'log')]
  const env = { ...interposer, FAULTS_WHILE: faults, FAULT_LOG: log, ...rates }
  return {
    directory: join(root, 'data'),
    env,
    fail: () => writeFileSync(faults, ''),
    repair: () => rmSync(faults),
    /** Returns the number of faults with this letter. */
    countFaults: (letter: string) => readFileSync(log, 'utf8').split(letter).length - 1
  }
}

/** Lets clients write while the disk fails and after its repair, then compares all stored data with their ledger. */
const writeThrough = async (t: Test, disk: ReturnType<typeof createFailingDisk>, writes = WRITES_DURING) => {
  const ledger = createLedger()
  const service = await startService(t, { DATA_DIR: disk.directory, ...disk.env })
  const { address } = service
  const access = await prepare(address, ledger)
  const { counts, until, stop } = startClients(address, access, ledger)
  const countFailures = () => (counts.writes.get(503) ?? 0) + (counts.writes.get(507) ?? 0)

  await until(() => ledger.counts.acknowledged >= WRITES_BEFORE)
  disk.fail()
  await until(() => sum(counts.writes) >= WRITES_BEFORE + writes)
  const [failed, reads] = [countFailures(), sum(counts.reads)]
  disk.repair()
  const goal = ledger.counts.acknowledged + WRITES_AFTER
  await until(() => ledger.counts.acknowledged >= goal)
  await stop()
  t.comment(`writes ${JSON.stringify([...counts.writes])}, reads ${JSON.stringify([...counts.reads])}`)
  t.ok(failed > 0, `${failed} writes failed`)
  t.ok(reads > failed / 2, 'reads continue')
  t.notOk(counts.writes.has(0) || counts.reads.has(0), 'each request has a response')
  t.ok(countFailures() - failed <= CLIENTS, 'after the repair, only requests in flight fail')

  t.strictSame(ledger.faults(await readService(address, access)), [], 'in the responses of the service')
  await service.end('SIGKILL')
  t.strictSame(ledger.faults(readDatabase(disk.directory)), [], 'in the files')
  const next = await startService(t, { DATA_DIR: disk.directory })
  t.strictSame(ledger.faults(await readService(next.address, access)), [], 'in the responses after a restart')
  await next.end('SIGKILL')
  return counts
}

t.test('a disk that fails at random causes no false acknowledgement', { skip: noInterposer }, async (t) => {
  const disk = createFailingDisk(t, { FAULT_ENOSPC: '1', FAULT_EIO: '1', FAULT_SHORT: '5' })
  const { writes } = await writeThrough(t, disk, WRITES_DURING_RANDOM)
  t.strictSame(statusesOf(writes), [200, 503, 507])
  for (const letter of ['N', 'E', 'S'])
    t.ok(disk.countFaults(letter) > 0, `${disk.countFaults(letter)} faults ${letter}`)
})

t.test('while the disk is full, writes fail with 507', { skip: noInterposer }, async (t) => {
  const { writes } = await writeThrough(t, createFailingDisk(t, { FAULT_ENOSPC: '100' }))
  t.strictSame(statusesOf(writes), [200, 507])
})

t.test('while each write to the disk fails, writes fail with 503', { skip: noInterposer }, async (t) => {
  const { writes } = await writeThrough(t, createFailingDisk(t, { FAULT_EIO: '100' }))
  t.strictSame(statusesOf(writes), [200, 503])
})

t.test('while the disk is full, an administrator can log in, read and log out', { skip: noInterposer }, async (t) => {
  for (const rates of [{ FAULT_ENOSPC: '100' }, { FAULT_EIO: '100' }]) {
    const disk = createFailingDisk(t, rates)
    const { address, end } = await startService(t, { DATA_DIR: disk.directory, ...disk.env })
    const { cookie } = await prepare(address, createLedger())
    disk.fail()
    const session = createHttp(address, { cookie: await logIn(address) })
    t.equal((await session('GET', '/admin/tables')).status, 200)
    t.equal((await session('POST', '/auth/logout')).status, 200)
    t.equal((await session('GET', '/auth/me')).status, 401)
    t.equal((await createHttp(address, { cookie })('GET', '/auth/me')).status, 200)
    await end('SIGKILL')
  }
})
