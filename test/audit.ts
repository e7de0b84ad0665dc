import type { AuditPage, AuditRow } from '../schemas/audit.ts'
import type { Database } from '../services/engine/database.ts'
import { type Client, dataOf } from './helpers.ts'

/** Returns the rows of the audit that match the query, the latest first. */
export const auditRows = async (admin: Client, query = ''): Promise<AuditRow[]> => {
  const { rows }: AuditPage = dataOf(await admin.get(`/admin/audit?size=1000${query && `&${query}`}`))
  return rows
}

/** Returns a function that returns the rows since its last call, the earliest first. */
export const auditSince = async (admin: Client) => {
  let [last] = await auditRows(admin)
  return async () => {
    const rows = (await auditRows(admin)).filter(({ id }) => id > Number(last?.id))
    last = rows[0] ?? last
    return rows.reverse()
  }
}

/** Makes each insert into the audit fail with SQLITE_FULL. Returns the function that ends this. */
export const fillAudit = async (db: Database) => {
  const run = (...lines: string[]) => db.write(lines.map((sql) => ({ sql, params: [] })))
  await run(
    'CREATE TABLE filler (bytes BLOB)',
    'CREATE TRIGGER full BEFORE INSERT ON _rowhouse_audit BEGIN INSERT INTO filler VALUES (zeroblob(1000000)); END',
    'PRAGMA max_page_count = 1'
  )
  return () => run('PRAGMA max_page_count = 1000000', 'DROP TRIGGER full', 'DROP TABLE filler')
}
