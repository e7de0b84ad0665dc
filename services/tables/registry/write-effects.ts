import type { Database } from '../../engine/database.ts'
import { foldName } from '../../model/names.ts'
import type { Row } from '../../model/sql-value.ts'
import type { RegisteredTable } from '../../model/table.ts'
import {
  declaresConflicts,
  declaresReplace,
  hasConflictClause,
  maySkip,
  tablesCountedBy,
  triggerTargets
} from '../../sql/lexer.ts'
import { IS_SEARCH_TRIGGER } from '../../sql/search-index.ts'
import { statement } from '../../sql/statement.ts'

const TRIGGERS = statement(
  `SELECT tbl_name AS name, sql FROM sqlite_schema WHERE type = 'trigger' AND NOT ${IS_SEARCH_TRIGGER}`
)

const CASCADES = statement(`SELECT s.name FROM sqlite_schema AS s, temp.pragma_foreign_key_list(s.name) AS f
  WHERE s.type = 'table' AND f.on_delete = 'CASCADE'`)

const UPDATE_ACTIONS = statement(`SELECT s.name FROM sqlite_schema AS s, temp.pragma_foreign_key_list(s.name) AS f
  WHERE s.type = 'table' AND f.on_update NOT IN ('NO ACTION', 'RESTRICT')`)

/** Tables with triggers, actions of foreign keys or indexes on expressions, whose `cid` is -2. */
const COSTLY = statement(`SELECT tbl_name AS name FROM sqlite_schema WHERE type = 'trigger' AND NOT ${IS_SEARCH_TRIGGER}
  UNION SELECT f."table" FROM sqlite_schema AS s, temp.pragma_foreign_key_list(s.name) AS f
  WHERE s.type = 'table' AND (f.on_delete NOT IN ('NO ACTION', 'RESTRICT') OR f.on_update NOT IN ('NO ACTION', 'RESTRICT'))
  UNION SELECT s.tbl_name FROM sqlite_schema AS s, temp.pragma_index_xinfo(s.name) AS i
  WHERE s.type = 'index' AND i.cid = -2`)

/**
 * Columns into which ON UPDATE CASCADE copies a value. Not those that refer to a primary key, which the API never
 * changes. A root page of 0 is that of a view or a virtual table, which may be broken.
 */
const COPIES = statement(`SELECT s.name, f."from" AS field
  FROM sqlite_schema AS s, temp.pragma_foreign_key_list(s.name) AS f
  WHERE s.type = 'table' AND f.on_update = 'CASCADE' AND f."to" IS NOT NULL
  AND NOT CASE WHEN EXISTS (
    SELECT 1 FROM sqlite_schema AS parent
    WHERE parent.type = 'table' AND parent.rootpage > 0 AND parent.name = f."table" COLLATE NOCASE
  ) THEN EXISTS (
    SELECT 1 FROM temp.pragma_table_info(f."table") AS k WHERE k.pk > 0 AND k.name = f."to" COLLATE NOCASE
  ) ELSE 0 END`)

const CONFLICTS = statement("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%conflict%'")

const namesIn = (rows: readonly Row[]) => new Set(rows.map(({ name }) => foldName(String(name))))

const fieldKey = (table: string, field: string) => JSON.stringify([foldName(table), foldName(field)])

/** Returns the tables whose number of rows triggers may change; null if this is not known. */
const reachedBy = (triggers: readonly Row[]): ReadonlySet<string> | null => {
  const reached = new Set<string>()
  for (const { name, sql } of triggers) {
    const names = tablesCountedBy(String(sql))
    if (names === null) return null
    for (const table of maySkip(String(sql)) ? [...names, String(name)] : names) reached.add(foldName(table))
  }
  return reached
}

/**
 * Returns the tables whose triggers, or the triggers that these fire, have conflict clauses or write to a table that
 * declares one. Not through foreign key actions, in which SQLite applies no conflict clause.
 */
const conflictTriggersOf = (triggers: readonly Row[], declaring: readonly Row[]): ReadonlySet<string> => {
  const declared = namesIn(declaring.filter(({ sql }) => declaresConflicts(String(sql))))
  const sources = new Set<string>()
  const reaches = ({ sql }: Row) => {
    const names = tablesCountedBy(String(sql))?.map(foldName)
    return !names || hasConflictClause(String(sql)) || names.some((name) => declared.has(name) || sources.has(name))
  }
  for (let known = -1; known < sources.size; ) {
    known = sources.size
    for (const name of namesIn(triggers.filter(reaches))) sources.add(name)
  }
  return sources
}

/** What a write to a table may cause beyond its own row: triggers, cascades and replaced rows. */
export const createWriteEffects = (db: Database) => {
  let triggered = new Set<string>()
  let costly = new Set<string>()
  let unpredictable = new Set<string>()
  /** null: any table, because a trigger is not understood. */
  let reached: ReadonlySet<string> | null = new Set()
  let hasUpdateActions = false
  let targets = new Set<string>()
  let copies = new Set<string>()
  let conflictTriggers: ReadonlySet<string> = new Set()

  const load = async () => {
    const [triggers, costlyTables, cascades, updateActions, copied, conflicts] = await Promise.all([
      db.read(TRIGGERS),
      db.read(COSTLY),
      db.read(CASCADES),
      db.read(UPDATE_ACTIONS),
      db.read(COPIES),
      db.read(CONFLICTS)
    ])
    triggered = namesIn(triggers)
    costly = namesIn(costlyTables)
    targets = new Set(triggers.flatMap(({ sql }) => triggerTargets(String(sql))).map(foldName))
    reached = reachedBy(triggers)
    copies = new Set(copied.map(({ name, field }) => fieldKey(String(name), String(field))))
    conflictTriggers = conflictTriggersOf(triggers, conflicts)
    hasUpdateActions = updateActions.length > 0
    unpredictable = namesIn([...cascades, ...conflicts.filter(({ sql }) => declaresReplace(String(sql)))])
  }

  return {
    load,
    /** Whether a change of a row may take any time, whatever its size. */
    isCostly: ({ name }: Pick<RegisteredTable, 'name'>) => costly.has(foldName(name)),
    hasTriggers: ({ name }: RegisteredTable) => triggered.has(foldName(name)),
    /**
     * Whether triggers or foreign key actions may change a record after an update of it. An action may come back to the
     * record through other tables, so one that any table declares counts for all.
     */
    hasUpdateEffects: ({ name }: RegisteredTable) => hasUpdateActions || triggered.has(foldName(name)),
    /** Whether a trigger that a write reaches has a conflict clause, or writes to a table that declares one. */
    hasConflictTriggers: (table: string) => conflictTriggers.has(foldName(table)),
    /** Whether a trigger of any table writes to this one. */
    isTriggerTarget: (table: string) => targets.has(foldName(table)),
    /** Whether a foreign key copies a value into the column that the API can change elsewhere. */
    isCascadeTarget: (table: string, column: string) => copies.has(fieldKey(table, column)),
    /** Whether only our own inserts and deletes change the number of rows: no cascade, REPLACE or trigger does. */
    isCountable: ({ name }: RegisteredTable) =>
      reached !== null && !reached.has(foldName(name)) && !unpredictable.has(foldName(name))
  }
}
