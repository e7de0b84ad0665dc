import { readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { temporaryDirectory } from '../fixtures.ts'
import { runService, startService } from '../service-process.ts'
import { type Access, prepare } from './access.ts'
import { startClients } from './clients.ts'
import { type Files, readFiles, readJournal, survivors, writeFiles } from './disk.ts'
import { compileInterposer } from './interposer.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { readDatabase, readService } from './oracle.ts'

/** A directory on a simulated disk that loses changes that were not synced. */
export const createSimulatedDisk = (t: Test) => {
  const interposer = compileInterposer(t, 'power-cut.c')
  const root = realpathSync(temporaryDirectory(t))
  const directory = join(root, 'data')
  const journal = join(root, 'journal')

  /** Starts the service on these files, and kills it at change number `after`; 0: never. */
  const start = async (files: Files, after: number, ignoresFsync = false) => {
    writeFiles(directory, files)
    rmSync(journal, { force: true })
    const settings = { CUT_JOURNAL: journal, CUT_AFTER: String(after), ...(ignoresFsync && { CUT_NO_FSYNC: '1' }) }
    // The WAL is so small that some cuts happen during a checkpoint.
    const service = await runService(t, { DATA_DIR: directory, WAL_SIZE: '1', ...interposer, ...settings })
    /** Valid until the next start on this disk. */
    const changes = () => [...readJournal(readFileSync(journal))]
    return { ...service, changes, survivors: () => survivors(files, changes()) }
  }
  return { directory, start }
}

type SimulatedDisk = ReturnType<typeof createSimulatedDisk>

/** Prepares a service and stops it normally. Returns its files, and the ledger of its clients. */
export const createFixture = async (t: Test, disk: SimulatedDisk) => {
  writeFiles(disk.directory, new Map())
  const ledger = createLedger()
  const service = await startService(t, { DATA_DIR: disk.directory })
  const access = await prepare(service.address, ledger)
  await service.end('SIGTERM')
  return { files: readFiles(disk.directory), ledger, access }
}

export interface Fixture {
  readonly files: Files
  readonly ledger: Ledger
  readonly access: Access
}

/** Corruption that SQLite finds is a fault, too. */
const faultsOf = (directory: string, ledger: Ledger) => {
  try {
    const states = readDatabase(directory)
    const faults = ledger.faults(states)
    ledger.settleAll(states)
    return faults
  } catch (error) {
    return [String(error)]
  }
}

/**
 * Starts the service on these files and lets the clients write until the power cut. Returns the files after the cut, and
 * the faults: states before or after the cut that contradict the acknowledgements.
 */
export const cutOnce = async (disk: SimulatedDisk, fixture: Fixture, after: number, ignoresFsync = false) => {
  const { ledger, access } = fixture
  const service = await disk.start(fixture.files, after, ignoresFsync)
  const faults: string[] = []
  if (service.address !== null) {
    faults.push(...ledger.faults(await readService(service.address, access)))
    await startClients(service.address, access, ledger).finished
  }
  const [, signal] = await service.ended
  if (signal !== 'SIGKILL') throw new Error(`The service ended before the power cut: ${service.lines.join('\n')}`)
  const files = service.survivors()
  writeFiles(disk.directory, files)
  faults.push(...faultsOf(disk.directory, ledger))
  return { files, faults }
}
