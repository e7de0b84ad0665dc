import { hash } from 'node:crypto'
import BetterSqlite3 from 'better-sqlite3'

const ROLES = 10
const PERMISSIONS = 100

const secretOf = (n: number) => `rh_${n.toString(16).padStart(64, '0')}`

/** Tokens come in pairs: one has permissions, the other a role. */
const pairOf = (n: number) => Math.floor(n / 2)

const permissionsOf = (n: number) =>
  JSON.stringify({
    tables: ['products', 'orders', `table ${pairOf(n) % PERMISSIONS}`],
    actions: ['read', 'create', 'update']
  })

/**
 * Adds tokens to a database of the service: half with one of 100 permissions, half with one of ten roles and a claim of their own.
 * Each has been used.
 */
export const addTokens = (file: string, count: number) => {
  const db = new BetterSqlite3(file)
  db.exec('BEGIN')
  const insertRole = db.prepare(
    "INSERT INTO _rowhouse_roles (id, name, grants, created_at, updated_at) VALUES (?, ?, '[]', 0, 0)"
  )
  for (let id = 1; id <= ROLES; id += 1) insertRole.run(id, `role ${id}`)
  const insert = db.prepare(`INSERT INTO _rowhouse_tokens
    (name, digest, token_prefix, permissions, role_id, claims, is_active, last_used_at, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, 1, 1790000000000, 1780000000000, 1780000000000)`)
  for (let n = 1; n <= count; n += 1) {
    const hasRole = n % 2 === 0
    insert.run(
      `Customer ${n}`,
      hash('sha256', secretOf(n)),
      `rh_${String(n).padStart(8, '0')}********`,
      hasRole ? '{"tables":[],"actions":[]}' : permissionsOf(n),
      hasRole ? (pairOf(n) % ROLES) + 1 : null,
      hasRole ? JSON.stringify({ customer: n }) : '{}'
    )
  }
  db.exec('COMMIT')
  db.close()
}

/** Commits as another program does, without a change of a token. */
export const commitAsOther = (file: string) => {
  const db = new BetterSqlite3(file)
  db.exec('CREATE TABLE IF NOT EXISTS other (n INTEGER); INSERT INTO other VALUES (1)')
  db.close()
}
