import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf } from '../served-file-digest.ts'

export const stagingDirectory = (dataDirectory: string) => join(dataDirectory, 'staging')

/** Returns the functions for the staging files of a served file. */
export const createStagingFiles = (dataDirectory: string, servedFile: string) => {
  const directory = stagingDirectory(dataDirectory)
  const digest = digestOf(servedFile)
  const pattern = new RegExp(`^${digest}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-journal)?$`)

  /**
   * Creates the directory, and deletes the files that a killed process has left for this served file. All other files
   * stay. Call it with the lock of the served file: another Rowhouse could be importing.
   */
  const prepare = () => {
    // Staged records are as private as the database.
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    for (const entry of readdirSync(directory, { withFileTypes: true }))
      if (entry.isFile() && pattern.test(entry.name)) rmSync(join(directory, entry.name), { force: true })
  }

  return { newPath: () => join(directory, `${digest}-${randomUUID()}`), prepare }
}
export type StagingFiles = ReturnType<typeof createStagingFiles>
