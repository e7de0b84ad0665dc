import type { Test } from 'tap'
import { type Caller, serviceCaller } from '../../services/model/caller.ts'
import { createAccessOf } from '../../services/records/access/access-of.ts'
import { createReadableBy } from '../../services/records/access/readable.ts'
import { createRowCosts } from '../../services/records/change/row-costs.ts'
import { createExportService } from '../../services/records/export/export.ts'
import { createCursors } from '../../services/records/read/cursors.ts'
import { createScans } from '../../services/records/read/scans.ts'
import { createSearch } from '../../services/records/read/search.ts'
import { createTotals } from '../../services/records/read/totals.ts'
import { createRecordService } from '../../services/records/records.ts'
import { createTableRegistry } from '../../services/tables/registry/registry.ts'
import { createTableService } from '../../services/tables/tables.ts'
import { databaseFile, openExternal, prepareFile, startEngine } from './engine/engine.ts'
import { createTokenService, noRoleNames } from './token-service.ts'

/** A token, which does not see hidden fields. */
export const tokenCaller: Caller = { ...serviceCaller, kind: 'token', id: 1 }

const RETURNS = { returnsRecord: true }

const parse = (record: string | undefined) => JSON.parse(String(record))

/** Starts the services of tables and records on a real engine, without HTTP. `schema`: SQL that prepares the file. */
export const startServices = async (t: Test, schema: string) => {
  const file = databaseFile(t)
  prepareFile(file, schema)
  const db = await startEngine(t, file)
  const time = { now: 1_700_000_000_000 }
  const clock = () => time.now
  const registry = createTableRegistry(db)
  await registry.load()
  const totals = createTotals({ db, isCountable: registry.isCountable })
  const tables = createTableService({
    db,
    registry,
    clock,
    tokenNames: createTokenService({ db, clock }).names,
    roleNames: noRoleNames,
    onBuildFailure: () => {}
  })
  const { hasTriggers, hasUpdateEffects, effectsOf } = registry
  const accessOf = createAccessOf(db.dialect, () => null)
  const readableBy = createReadableBy({ accessOf, findTable: tables.find })
  const cursors = createCursors('the secret of the tests')
  const facts = { hasTriggers, hasUpdateEffects, effectsOf, rowCosts: createRowCosts(registry) }
  const search = createSearch(db, totals)
  const scan = createScans({ db, search, totals, onSlowScan: () => {} })
  const reading = { scan, cursors, readableBy, maxPageSize: () => 1000, allTables: registry.all }
  const records = createRecordService({ db, clock, totals, ...reading, ...facts })
  const exports = createExportService({ db, auditRead: () => {}, search, scan, readableBy, maxPageSize: () => 1000 })

  /** Returns functions for the records of a table. Imports the table if it is not registered. */
  const serve = async (name: string) => {
    const { id } = tables.find(name) ?? (await tables.adoptTable(serviceCaller, name))
    const access = () => accessOf(serviceCaller, tables.get(id), [])
    return {
      id,
      access,
      structure: () => tables.get(id).structure,
      read: async (pk: string) => JSON.parse(await records.read(serviceCaller, access(), pk)),
      list: async (query = {}) => JSON.parse(await records.list(serviceCaller, access(), query)),
      create: async (body: object) =>
        JSON.parse(await records.create(serviceCaller, access(), body as Record<string, unknown>)),
      update: (pk: string, body: object) =>
        records.update(serviceCaller, access(), pk, body as Record<string, unknown>),
      remove: (pk: string) => records.remove(serviceCaller, access(), pk),
      increment: (pk: string | number, field: string, count?: number | string) =>
        records.increment(serviceCaller, access(), { pk, field, ...(count !== undefined && { count }) }),
      /** Changes that return the record. */
      returning: {
        update: async (pk: string, body: object) =>
          parse(await records.update(serviceCaller, access(), pk, body as Record<string, unknown>, RETURNS)),
        remove: async (pk: string) => parse(await records.remove(serviceCaller, access(), pk, RETURNS)),
        increment: async (pk: string | number, field: string, count: number | string = 1) =>
          parse(await records.increment(serviceCaller, access(), { pk, field, count }, RETURNS))
      },
      exported: async (query = {}) => {
        const chunks: Buffer[] = []
        for await (const chunk of await exports.exportRecords(serviceCaller, access(), query))
          chunks.push(Buffer.from(chunk))
        return Buffer.concat(chunks).toString('utf8')
      }
    }
  }

  return {
    file,
    db,
    registry,
    totals,
    tables,
    accessOf,
    records,
    exports,
    serve,
    time,
    external: openExternal(t, file)
  }
}
