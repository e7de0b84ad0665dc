import { open, stat } from 'node:fs/promises'
import type { FileSizes } from '../database.ts'

/** Position of the checkpoint sequence number in the WAL: https://sqlite.org/fileformat2.html#walformat */
const SEQUENCE_POSITION = 12
const SEQUENCE_BYTES = 4

/** Another thread may remove the write-ahead log at any time. */
const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0
  )

/** SQLite has no locks on the WAL. On another of its files, the close would release them. */
const readSequence = async (wal: string) => {
  const handle = await open(wal)
  try {
    const { buffer } = await handle.read(Buffer.alloc(SEQUENCE_BYTES), 0, SEQUENCE_BYTES, SEQUENCE_POSITION)
    return buffer.readUInt32BE()
  } finally {
    await handle.close()
  }
}

/** Returns the sizes of a database file and of its write-ahead log. */
export const fileSizes = async (file: string): Promise<FileSizes> => {
  const wal = `${file}-wal`
  const [database, walSize, walRestarts] = await Promise.all([
    sizeOf(file),
    sizeOf(wal),
    readSequence(wal).catch(() => 0)
  ])
  return { database, wal: walSize, walRestarts }
}
