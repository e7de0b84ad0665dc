import type { Test } from 'tap'
import { serviceCaller } from '../../services/model/caller.ts'
import { createExportService } from '../../services/records/export.ts'
import { createRecordService } from '../../services/records/records.ts'
import { createTotals } from '../../services/records/totals.ts'
import { administratorView } from '../../services/records/view.ts'
import { createTableRegistry } from '../../services/tables/registry.ts'
import { createTableService } from '../../services/tables/tables.ts'
import { databaseFile, openExternal, prepareFile, startEngine } from './engine/engine.ts'

/** Who exports, and may go on to. */
export const ANYBODY = { kind: 'admin' as const, id: 1, confirm: async () => {} }

/** Tables and records over a real engine, on a file that the SQL has made; without HTTP. */
export const startServices = async (t: Test, theirs: string) => {
  const file = databaseFile(t)
  prepareFile(file, theirs)
  const db = await startEngine(t, file)
  const time = { now: 1_700_000_000_000 }
  const clock = () => time.now
  const registry = createTableRegistry(db)
  await registry.load()
  const totals = createTotals({ db, isCountable: registry.isCountable })
  const tables = createTableService({ db, registry, clock })
  const { hasTriggers } = registry
  const records = createRecordService({ db, clock, totals, hasTriggers, maxPageSize: 1000 })
  const exports = createExportService({ db, maxPageSize: 1000 })

  /** The calls on the records of a table, which is imported the first time. */
  const serve = async (name: string) => {
    const { id } = tables.find(name) ?? (await tables.importTable(serviceCaller, name))
    const view = () => administratorView(tables.get(id))
    return {
      id,
      view,
      structure: () => tables.get(id).structure,
      read: async (pk: string) => JSON.parse(await records.read(view(), pk)),
      list: async (query = {}) => JSON.parse(await records.list(view(), query)),
      create: async (body: object) => JSON.parse(await records.create(view(), body as Record<string, unknown>)),
      update: (pk: string, body: object) => records.update(view(), pk, body as Record<string, unknown>),
      remove: (pk: string) => records.remove(view(), pk),
      increment: (pk: string | number, field: string, count?: number | string) =>
        records.increment(view(), { pk, field, ...(count !== undefined && { count }) }),
      exported: async (query = {}) => {
        const chunks: Buffer[] = []
        for await (const chunk of await exports.exportCsv(view(), query, ANYBODY)) chunks.push(Buffer.from(chunk))
        return Buffer.concat(chunks).toString('utf8')
      }
    }
  }

  return { file, db, registry, totals, tables, records, exports, serve, time, foreign: openExternal(t, file) }
}
