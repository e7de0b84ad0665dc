import t from 'tap'
import { findAccount } from '../../../services/accounts/admin-statements.ts'
import {
  deleteExpiredSessions,
  endSession,
  endSessionOf,
  endSessionsOf,
  listSessions,
  openSession,
  readSession,
  requireSession
} from '../../../services/accounts/session-statements.ts'
import { openTestDatabase } from '../../session-app.ts'

t.test('no statement of a login or of a session scans all sessions', async (t) => {
  const db = await openTestDatabase(t)
  const session = { id: 's', admin: 1, hash: '', now: 0, expiresAt: 1, address: '', userAgent: '' }
  const statements = {
    deleteExpiredSessions: deleteExpiredSessions(1),
    openSession: openSession(session),
    readSession: readSession('s', 1),
    requireSession: requireSession('s', 1),
    listSessions: listSessions(1, 1),
    endSession: endSession('s'),
    endSessionOf: endSessionOf(1, 's'),
    endSessionsOf: endSessionsOf(1),
    findAccount: findAccount('admin')
  }
  for (const [name, statement] of Object.entries(statements)) {
    const steps = await db.plan(statement)
    t.strictSame(
      steps.filter((step) => step.startsWith('SCAN')),
      [],
      `${name}: ${steps.join(', ')}`
    )
  }
  t.match(await db.plan(statements.deleteExpiredSessions), [/_rowhouse_sessions_expires_at/])
})
