import { statSync } from 'node:fs'
import { resolve } from 'node:path'

/** Whether the path names something other than a directory, such as a file or a pipe. */
export const isReadable = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === false

export const missingFile = (path: string) => new Error(`There is no file ${resolve(path)}.`)

/** @throws an Error if there is no such file */
export const assertReadable = (path: string) => {
  if (!isReadable(path)) throw missingFile(path)
}
