import { rmSync } from 'node:fs'
import { setImmediate as nextTick } from 'node:timers/promises'
import { joinRows } from '../../sql/json-rows.ts'
import { openConnection } from '../shared/connection.ts'

/** Rows that are stored in one tick of the event loop: about 2 ms. */
const ROWS_OF_TICK = 1000

/** Creates a file that keeps the JSON texts of rows in their order. It is lost with the process. */
export const createCollectedRows = (file: string) => {
  const connection = openConnection({ file, readonly: false, busyTimeout: 0, cacheSize: 1 })
  const { raw } = connection
  raw.pragma('journal_mode = OFF')
  raw.pragma('synchronous = OFF')
  raw.exec('CREATE TABLE rows (position INTEGER PRIMARY KEY, json TEXT NOT NULL)')
  const insert = raw.prepare('INSERT INTO rows (json) VALUES (?)')

  const addAll = raw.transaction((rows: readonly string[]) => {
    for (const json of rows) insert.run(json)
  })

  return {
    /** Adds rows. `isOpen`: called before each part; the rest is left out if it returns false. */
    add: async (rows: readonly string[], isOpen: () => boolean) => {
      for (let start = 0; start < rows.length && isOpen(); start += ROWS_OF_TICK) {
        addAll(rows.slice(start, start + ROWS_OF_TICK))
        await nextTick()
      }
    },
    /** Returns the JSON of rows after a position, each with its position before its other values. */
    read: (after: number, rows: number) =>
      String(
        connection.value(
          `SELECT ${joinRows("'[' || position || ',' || substr(json, 2)")} FROM rows WHERE position > ? AND position <= ?`,
          [BigInt(after), BigInt(after + rows)]
        )
      ),
    remove: () => {
      connection.close()
      rmSync(file, { force: true })
    }
  }
}
export type CollectedRows = ReturnType<typeof createCollectedRows>
