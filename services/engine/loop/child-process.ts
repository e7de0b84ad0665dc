import { fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'

/**
 * Where SQLite stores temporary files: https://sqlite.org/tempfiles.html#temporary_file_storage_locations. Other variables of
 * the environment contain secrets.
 */
const environment = () => {
  const { SQLITE_TMPDIR, TMPDIR } = process.env
  return { SQLITE_TMPDIR, TMPDIR }
}

/**
 * Starts a process with a low priority, which can be killed at any time. Its first argument is the id of this process:
 * services/engine/shared/service-process.ts.
 */
export const startChildProcess = (file: URL, args: readonly string[] = []) => {
  const child = fork(fileURLToPath(file), [String(process.pid), ...args], {
    env: environment(),
    execArgv: [],
    // Keeps BLOBs and 64-bit integers, which JSON does not have.
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc']
  })
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  return child
}
