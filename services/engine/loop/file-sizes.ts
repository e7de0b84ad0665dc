import { stat } from 'node:fs/promises'
import type { FileSizes } from '../database.ts'

/** Another thread may remove the write-ahead log at any time. */
const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0
  )

/** Returns the sizes of a database file and of its write-ahead log. */
export const fileSizes = async (file: string): Promise<FileSizes> => {
  const [database, wal] = await Promise.all([sizeOf(file), sizeOf(`${file}-wal`)])
  return { database, wal }
}
