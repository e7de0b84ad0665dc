import { readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { temporaryDirectory } from '../helpers.ts'
import { runService, startService } from '../service-process.ts'
import { type Access, prepare } from './access.ts'
import { startClients } from './clients.ts'
import { type Files, readFiles, readJournal, survivors, writeFiles } from './disk.ts'
import { compileInterposer } from './interposer.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { askService, inspectFiles } from './oracle.ts'

/** A directory whose disk forgets what was not synced. */
export const createForgetfulDisk = (t: Test) => {
  const interposer = compileInterposer(t, 'power-cut.c')
  const root = realpathSync(temporaryDirectory(t))
  const directory = join(root, 'data')
  const journal = join(root, 'journal')

  /** Starts the service on these files, to be cut off at so many changes of them; 0 is never. */
  const start = async (files: Files, after: number, lies = false) => {
    writeFiles(directory, files)
    rmSync(journal, { force: true })
    const cut = { CUT_JOURNAL: journal, CUT_AFTER: String(after), ...(lies && { CUT_LIES: '1' }) }
    // So little that some of the cuts come while the WAL is being folded into the database.
    const service = await runService(t, { DATA_DIR: directory, WAL_SIZE: '1', ...interposer, ...cut })
    /** For as long as nothing else is started here. */
    const changes = () => [...readJournal(readFileSync(journal))]
    return { ...service, changes, survivors: () => survivors(files, changes()) }
  }
  return { directory, start }
}

type ForgetfulDisk = ReturnType<typeof createForgetfulDisk>

/** A service that is prepared and was stopped in order: what is on its disk, and what is known of it. */
export const createWorld = async (t: Test, disk: ForgetfulDisk) => {
  writeFiles(disk.directory, new Map())
  const ledger = createLedger()
  const service = await startService(t, { DATA_DIR: disk.directory })
  const access = await prepare(service.address, ledger)
  await service.end('SIGTERM')
  return { files: readFiles(disk.directory), ledger, access }
}

export interface World {
  readonly files: Files
  readonly ledger: Ledger
  readonly access: Access
}

/** Damage that SQLite finds counts as a fault, too. */
const faultsOf = (directory: string, ledger: Ledger) => {
  try {
    const sight = inspectFiles(directory)
    const faults = ledger.faults(sight)
    ledger.settleAll(sight)
    return faults
  } catch (error) {
    return [String(error)]
  }
}

/**
 * Starts the service on what the last cut left, lets the clients write until the power is cut, and looks at what is
 * left. Gives that, and what it says that contradicts the acknowledgements.
 */
export const cutOnce = async (disk: ForgetfulDisk, world: World, after: number, lies = false) => {
  const { ledger, access } = world
  const service = await disk.start(world.files, after, lies)
  const faults: string[] = []
  if (service.address !== null) {
    faults.push(...ledger.faults(await askService(service.address, access)))
    await startClients(service.address, access, ledger).finished
  }
  const [, signal] = await service.ended
  if (signal !== 'SIGKILL') throw new Error(`The service ended by itself: ${service.lines.join('\n')}`)
  const files = service.survivors()
  writeFiles(disk.directory, files)
  faults.push(...faultsOf(disk.directory, ledger))
  return { files, faults }
}
