import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { prepare } from './access.ts'
import { startClients } from './clients.ts'
import { compileInterposer, noInterposer } from './interposer.ts'
import { createLedger } from './ledger.ts'
import { readDatabase } from './oracle.ts'

// A disk whose fsync fails. A request that was refused is not stored, whatever happens next.

/** Fewer cycles may have no fault. */
const CYCLES = Math.max(4, scaled(200))
/** Acknowledged writes in a cycle before the service is killed. */
const [MIN_WRITES, MAX_WRITES] = [50, 300]
/** Refused writes after which it is killed earlier. */
const MAX_REFUSED = 20

const interposer = noInterposer ? {} : compileInterposer(t, 'io-faults.c')

/** A service on a disk with faults at these rates, in per cent of the system calls. */
const createService = async (t: Test, rates: Readonly<Record<string, string>>) => {
  const root = realpathSync(temporaryDirectory(t))
  const [directory, faults, log] = [join(root, 'data'), join(root, 'faults'), join(root, 'log')]
  const env = { ...interposer, FAULTS_WHILE: faults, FAULT_LOG: log, ...rates }
  const start = (seed: number) => startService(t, { DATA_DIR: directory, FAULT_SEED: String(seed), ...env })
  const ledger = createLedger()
  const first = await start(1)
  const access = await prepare(first.address, ledger)
  await first.end('SIGKILL')

  const counts = { refused: 0, ended: 0 }
  /** Kills the service while its disk fails, unless it has ended before. Returns the differences from the ledger of the clients. */
  const runOnce = async (seed: number) => {
    const service = await start(seed)
    const clients = startClients(service.address, access, ledger)
    writeFileSync(faults, '')
    const goal = ledger.counts.acknowledged + MIN_WRITES + ((37 * seed) % (MAX_WRITES - MIN_WRITES))
    const countRefused = () => clients.counts.writes.get(503) ?? 0
    await clients.until(() => ledger.counts.acknowledged >= goal || countRefused() >= MAX_REFUSED)
    counts.ended += service.lines.some((line) => line.includes('The disk failed during a commit')) ? 1 : 0
    await service.end('SIGKILL')
    await clients.finished
    rmSync(faults)
    counts.refused += countRefused()
    const states = readDatabase(directory)
    const found = ledger.faults(states)
    ledger.settleAll(states)
    return found
  }
  return {
    ledger,
    counts,
    runOnce,
    countFaults: (letter: string) => readFileSync(log, 'utf8').split(letter).length - 1
  }
}

const testFaults = (title: string, rates: Readonly<Record<string, string>>, letters: readonly string[]) =>
  t.test(title, { skip: noInterposer }, async (t) => {
    const { ledger, counts, runOnce, countFaults } = await createService(t, rates)
    for (let seed = 1; seed <= CYCLES; seed += 1) t.strictSame(await runOnce(seed), [], `FAULT_SEED=${seed}`)
    const faults = letters.map((letter) => countFaults(letter))
    t.comment(JSON.stringify({ ...ledger.counts, ...counts, faults }))
    t.ok(counts.refused > 0 || 'FAULT_KILL' in rates, 'writes were refused')
    if (rates.FAULT_LATE_SYNC === '100') t.equal(counts.ended, CYCLES, 'the log says why the process has ended')
    t.notOk(faults.includes(0), `faults ${letters}: ${faults}`)
  })

testFaults('each fsync stores and then fails', { FAULT_LATE_SYNC: '100' }, ['L'])
testFaults('an fsync that stores and then fails', { FAULT_LATE_SYNC: '10' }, ['L'])
testFaults('an fsync that fails and stores nothing', { FAULT_SYNC: '10' }, ['Y'])
testFaults(
  'an fsync and writes that fail',
  { FAULT_LATE_SYNC: '5', FAULT_SYNC: '5', FAULT_EIO: '1', FAULT_SHORT: '5' },
  ['L', 'Y']
)
testFaults('kill -9 after an fsync that stores and then fails', { FAULT_LATE_SYNC: '10', FAULT_KILL: '50' }, ['L', 'K'])

t.test('/health/ready fails when a commit fails, and then succeeds', { skip: noInterposer }, async (t) => {
  const root = realpathSync(temporaryDirectory(t))
  const faults = join(root, 'faults')
  const env = { ...interposer, FAULTS_WHILE: faults, FAULT_LOG: join(root, 'log'), FAULT_SYNC: '15' }

  /** Returns whether the status came. The process ends if two commits fail one after the other. */
  const comes = async (status: number, address: string) => {
    for (let tries = 0; tries < 300; tries += 1) {
      const response = await fetch(`${address}/health/ready`).catch(() => null)
      if (!response) return false
      if (response.status === status) return true
      await wait(200)
    }
    throw new Error(`/health/ready never returned ${status}.`)
  }

  const isNoticed = async (seed: number) => {
    const service = await startService(t, { DATA_DIR: join(root, 'data'), FAULT_SEED: String(seed), ...env })
    t.ok(await comes(200, service.address))
    writeFileSync(faults, '')
    const isFailing = await comes(503, service.address)
    rmSync(faults)
    const hasRecovered = isFailing && (await comes(200, service.address))
    await service.end('SIGKILL')
    return hasRecovered
  }

  let seed = 1
  while (!(await isNoticed(seed))) seed += 1
  t.ok(seed < 10, `FAULT_SEED=${seed}`)
})
