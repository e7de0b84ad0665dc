import type { Database } from '../engine/database.ts'
import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { RegisteredTable } from '../model/table.ts'
import { declaresReplace } from '../sql/lexer.ts'
import type { Statement } from '../sql/statement.ts'

const statement = (sql: string): Statement => ({ sql, params: [] })

const TRIGGERS = statement("SELECT tbl_name AS name FROM sqlite_schema WHERE type = 'trigger'")

const CASCADES = statement(`SELECT s.name FROM sqlite_schema AS s, temp.pragma_foreign_key_list(s.name) AS f
  WHERE s.type = 'table' AND f.on_delete = 'CASCADE'`)

const UPDATE_ACTIONS = statement(`SELECT s.name FROM sqlite_schema AS s, temp.pragma_foreign_key_list(s.name) AS f
  WHERE s.type = 'table' AND f.on_update NOT IN ('NO ACTION', 'RESTRICT')`)

const REPLACES = statement("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%replace%'")

const namesIn = (rows: readonly Row[]) => new Set(rows.map(({ name }) => foldName(String(name))))

/** What a write to a table may cause beyond its own row: triggers, cascades and replaced rows. */
export const createWriteEffects = (db: Database) => {
  let triggered = new Set<string>()
  let unpredictable = new Set<string>()
  let hasUpdateActions = false

  const load = async () => {
    const [triggers, cascades, updateActions, replaces] = await Promise.all([
      db.read(TRIGGERS),
      db.read(CASCADES),
      db.read(UPDATE_ACTIONS),
      db.read(REPLACES)
    ])
    triggered = namesIn(triggers)
    hasUpdateActions = updateActions.length > 0
    unpredictable = namesIn([...cascades, ...replaces.filter(({ sql }) => declaresReplace(String(sql)))])
  }

  return {
    load,
    hasTriggers: ({ name }: RegisteredTable) => triggered.has(foldName(name)),
    /**
     * Whether triggers or foreign key actions may change a record after an update of it. An action may come back to the
     * record through other tables, so one that any table declares counts for all.
     */
    hasUpdateEffects: ({ name }: RegisteredTable) => hasUpdateActions || triggered.has(foldName(name)),
    /** Whether only our own inserts and deletes change the number of rows: no cascade, REPLACE or trigger does. */
    isCountable: ({ name }: RegisteredTable) => triggered.size === 0 && !unpredictable.has(foldName(name))
  }
}
