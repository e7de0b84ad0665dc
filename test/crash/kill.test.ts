import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { type Access, prepare } from './access.ts'
import { startClients } from './clients.ts'
import { countPartial } from './files.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { DATABASE, readDatabase, readService, walSequence } from './oracle.ts'

const CYCLES = scaled(200)
/** A database of more cycles has so many tables that each start is slow. Only SCALE > 1 reaches this limit. */
const CYCLES_PER_DATABASE = 500
/** Maximum number of acknowledged writes in a cycle before the service is killed. */
const MAX_WRITES = 500

interface Fixture {
  readonly directory: string
  readonly ledger: Ledger
  readonly access: Access
  /** Imports that were acknowledged, and large ones of which a kill left only the first records. */
  readonly imports: { acknowledged: number; partial: number }
}

const createFixture = async (t: Test): Promise<Fixture> => {
  const directory = temporaryDirectory(t)
  const ledger = createLedger()
  const service = await startService(t, { DATA_DIR: directory })
  const access = await prepare(service.address, ledger)
  await service.end('SIGKILL')
  return { directory, ledger, access, imports: { acknowledged: 0, partial: 0 } }
}

/** So small that some kills happen during a checkpoint of the WAL. */
const env = { WAL_SIZE: '1' }

/** Starts the service and kills it after some acknowledged writes, while the clients write. Returns the differences from their ledger. */
const killOnce = async (t: Test, { directory, ledger, access, imports }: Fixture, writes: number) => {
  const service = await startService(t, { DATA_DIR: directory, ...env })
  const faults = [...ledger.faults(await readService(service.address, access))]
  const clients = startClients(service.address, access, ledger)
  const goal = ledger.counts.acknowledged + writes
  await clients.until(() => ledger.counts.acknowledged >= goal)
  await service.end('SIGKILL')
  await clients.finished
  const states = readDatabase(directory)
  faults.push(...ledger.faults(states))
  ledger.settleAll(states)
  imports.acknowledged += clients.counts.imports
  imports.partial += countPartial(states)
  return faults
}

t.test('after kill -9, all acknowledged writes are stored, and nothing that was not sent', async (t) => {
  const total = { acknowledged: 0, unknown: 0, checkpoints: 0, imports: 0, partialImports: 0 }
  for (let done = 0; done < CYCLES; done += CYCLES_PER_DATABASE) {
    const fixture = await createFixture(t)
    for (let cycle = done; cycle < Math.min(CYCLES, done + CYCLES_PER_DATABASE); cycle += 1) {
      // A short run may have no other cycle that checkpoints the WAL.
      const writes = cycle === 0 ? MAX_WRITES : Math.floor(Math.random() * MAX_WRITES)
      t.strictSame(await killOnce(t, fixture, writes), [], `cycle ${cycle}`)
    }
    total.acknowledged += fixture.ledger.counts.acknowledged
    total.unknown += fixture.ledger.counts.unknown
    total.imports += fixture.imports.acknowledged
    total.partialImports += fixture.imports.partial
    total.checkpoints += walSequence(readFileSync(join(fixture.directory, `${DATABASE}-wal`)))
  }
  t.comment(`${CYCLES} kills: ${JSON.stringify(total)}`)
  t.ok(total.unknown > 0, 'requests were in flight when the service was killed')
  t.ok(total.imports > 0, 'imports were acknowledged')
  // About half of the kills. A short run may have none.
  t.ok(total.partialImports > 0 || CYCLES < 100, 'some kills were between two steps of an import')
  t.ok(total.checkpoints > 0, 'the WAL was checkpointed in some cycle')
})
