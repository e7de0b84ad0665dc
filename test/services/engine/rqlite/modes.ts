import type { Test } from 'tap'
import { asAdmin, asToken, type Client, client, createDatabase, importTable, startApp } from '../../../helpers.ts'
import { startClusterParts } from './stand-in.ts'

/** How values travel: in an attached file and a TEMP table, or in statements, as to a cluster. */
const MODES = ['attached', 'sent'] as const

/** Starts a service on a new file with these tables. */
const startMode = async (t: Test, mode: (typeof MODES)[number], schema: string, names: readonly string[]) => {
  const file = createDatabase(t, schema)
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  for (const name of names) await importTable(admin, name)
  if (mode === 'sent') {
    const { stagings, readers } = startClusterParts(t, file)
    const holdReader = async (caller: Parameters<typeof readers.hold>[0]) => readers.hold(caller)
    Object.assign(app.database, { stage: stagings.stage, holdReader })
    Object.assign(app.database.viewScans, { holdReader })
  }
  const token = await asToken(app, admin)
  const withType = (type: string, more: object = {}) => client(app, { ...token.headers, 'content-type': type, ...more })
  return { admin, token, csv: withType('text/csv'), ndjson: withType('application/x-ndjson'), withType }
}
export type Mode = Awaited<ReturnType<typeof startMode>>

/** Returns what `run` returns on a cluster, after a check that it returns the same on one file. */
export const inBothModes = async <T>(
  t: Test,
  { schema, tables }: { readonly schema: string; readonly tables: readonly string[] },
  run: (mode: Mode) => Promise<T>
): Promise<T> => {
  const results: T[] = []
  for (const mode of MODES) results.push(await run(await startMode(t, mode, schema, tables)))
  const [attached, sent] = results
  t.strictSame(sent, attached, 'the same as on one file')
  return sent as T
}

/** Returns the status of a request, with its data or its error. */
export const post = async (sender: Client, url: string, payload: string) => {
  const response = await sender.post(url, payload)
  const { data, error } = response.json()
  const { requestId, ...rest } = error ?? {}
  return { status: response.statusCode, data, error: rest }
}
