import type { AuditPage, AuditRow } from '../schemas/audit.ts'
import type { Database } from '../services/engine/database.ts'
import { type Client, dataOf } from './helpers.ts'
import { fillDisk } from './session-app.ts'

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
export const fillAudit = (db: Database) => fillDisk(db, '_rowhouse_audit')
