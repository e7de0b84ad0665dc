import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { prepare } from './access.ts'
import { CLIENTS, startClients } from './clients.ts'
import { compileInterposer, noInterposer } from './interposer.ts'
import { createLedger } from './ledger.ts'
import { askService, inspectFiles } from './oracle.ts'

/** Calls that write before the disk fails, while it does, and that have to succeed when it no longer does. */
const BEFORE = 500
const WRITES = scaled(20_000)
const AFTERWARDS = scaled(5000)

const sum = (counts: ReadonlyMap<number, number>) => [...counts.values()].reduce((total, count) => total + count, 0)

/** A disk that fails at these rates, in per cent of the calls, from `fail` to `mend`. */
const createFailingDisk = (t: Test, rates: Record<string, string>) => {
  const root = realpathSync(temporaryDirectory(t))
  const [faults, log] = [join(root, 'faults'), join(root, 'log')]
  const env = { ...compileInterposer(t, 'io-faults.c'), FAULTS_WHILE: faults, FAULT_LOG: log, ...rates }
  return {
    directory: join(root, 'data'),
    env,
    fail: () => writeFileSync(faults, ''),
    mend: () => rmSync(faults),
    /** How often a fault of this letter was met. */
    count: (letter: string) => readFileSync(log, 'utf8').split(letter).length - 1
  }
}

/** Lets clients write to a service whose disk fails, mends it, and holds all there is against what they know. */
const writeThrough = async (t: Test, disk: ReturnType<typeof createFailingDisk>) => {
  const ledger = createLedger()
  const service = await startService(t, { DATA_DIR: disk.directory, ...disk.env })
  const { address } = service
  const access = await prepare(address, ledger)
  const { answers, until, stop } = startClients(address, access, ledger)
  const refusals = () => (answers.writes.get(503) ?? 0) + (answers.writes.get(507) ?? 0)

  await until(() => ledger.counts.acknowledged >= BEFORE)
  disk.fail()
  await until(() => sum(answers.writes) >= BEFORE + WRITES)
  const [refused, reads] = [refusals(), sum(answers.reads)]
  disk.mend()
  const goal = ledger.counts.acknowledged + AFTERWARDS
  await until(() => ledger.counts.acknowledged >= goal)
  await stop()
  t.comment(`writes ${JSON.stringify([...answers.writes])}, reads ${JSON.stringify([...answers.reads])}`)
  t.ok(refused > 0, `${refused} writes were refused`)
  t.ok(reads > refused / 2, 'reads went on')
  t.notOk(answers.writes.has(0) || answers.reads.has(0), 'every call was answered')
  t.ok(refusals() - refused <= CLIENTS, 'once it is mended, none is refused but those under way')

  t.strictSame(ledger.faults(await askService(address, access)), [], 'as the service says')
  await service.end('SIGKILL')
  t.strictSame(ledger.faults(inspectFiles(disk.directory)), [], 'as the files say')
  const next = await startService(t, { DATA_DIR: disk.directory })
  t.strictSame(ledger.faults(await askService(next.address, access)), [], 'as the next service says')
  await next.end('SIGKILL')
  return answers
}

t.test('a disk that fails now and then makes no false acknowledgement', { skip: noInterposer }, async (t) => {
  const disk = createFailingDisk(t, { FAULT_ENOSPC: '1', FAULT_EIO: '1', FAULT_SHORT: '5' })
  const { writes } = await writeThrough(t, disk)
  t.strictSame([...writes.keys()].sort(), [200, 503, 507])
  for (const letter of ['N', 'E', 'S']) t.ok(disk.count(letter) > 0, `${disk.count(letter)} faults ${letter}`)
})

t.test('while the disk is full, writes are refused with 507', { skip: noInterposer }, async (t) => {
  const { writes } = await writeThrough(t, createFailingDisk(t, { FAULT_ENOSPC: '100' }))
  t.strictSame([...writes.keys()].sort(), [200, 507])
})

t.test('while the disk takes nothing, writes are refused with 503', { skip: noInterposer }, async (t) => {
  const { writes } = await writeThrough(t, createFailingDisk(t, { FAULT_EIO: '100' }))
  t.strictSame([...writes.keys()].sort(), [200, 503])
})
