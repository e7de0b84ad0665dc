import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { type Access, prepare } from './access.ts'
import { startClients } from './clients.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { askService, DATABASE, inspectFiles, walSequence } from './oracle.ts'

const CYCLES = scaled(200)
/** A database gets older than the full count only in the long form, where its tables would slow down every start. */
const CYCLES_PER_DATABASE = 500
/** Acknowledgements that a cycle waits for, at most, before it kills. */
const MOST_WRITES = 500

interface World {
  readonly directory: string
  readonly ledger: Ledger
  readonly access: Access
}

const createWorld = async (t: Test): Promise<World> => {
  const directory = temporaryDirectory(t)
  const ledger = createLedger()
  const service = await startService(t, { DATA_DIR: directory })
  const access = await prepare(service.address, ledger)
  await service.end('SIGKILL')
  return { directory, ledger, access }
}

/** So little that some of the kills come while the WAL is being folded into the database. */
const env = { WAL_SIZE: '1' }

/** Starts the service, lets the clients write, kills it amid that. Gives what was lost on the way. */
const killOnce = async (t: Test, { directory, ledger, access }: World) => {
  const service = await startService(t, { DATA_DIR: directory, ...env })
  const faults = [...ledger.faults(await askService(service.address, access))]
  const clients = startClients(service.address, access, ledger)
  const goal = ledger.counts.acknowledged + Math.floor(Math.random() * MOST_WRITES)
  await clients.until(() => ledger.counts.acknowledged >= goal)
  await service.end('SIGKILL')
  await clients.finished
  const sight = inspectFiles(directory)
  faults.push(...ledger.faults(sight))
  ledger.settleAll(sight)
  return faults
}

t.test('kill -9 loses nothing that was acknowledged, and leaves nothing that was not sent', async (t) => {
  const total = { acknowledged: 0, unknown: 0, checkpoints: 0 }
  for (let done = 0; done < CYCLES; done += CYCLES_PER_DATABASE) {
    const world = await createWorld(t)
    for (let cycle = done; cycle < Math.min(CYCLES, done + CYCLES_PER_DATABASE); cycle += 1) {
      t.strictSame(await killOnce(t, world), [], `cycle ${cycle}`)
    }
    total.acknowledged += world.ledger.counts.acknowledged
    total.unknown += world.ledger.counts.unknown
    total.checkpoints += walSequence(readFileSync(join(world.directory, `${DATABASE}-wal`)))
  }
  t.comment(`${CYCLES} kills: ${JSON.stringify(total)}`)
  t.ok(total.unknown > 0, 'calls were under way when it was killed')
  t.ok(total.checkpoints > 0, 'the WAL was folded into the database on the way')
})
