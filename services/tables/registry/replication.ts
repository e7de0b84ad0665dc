import type { Database } from '../../engine/database.ts'
import { foldName } from '../../model/names.ts'
import {
  isNullable,
  type RegisteredTable,
  type Structure,
  type TimeDefault,
  type Unreplicable
} from '../../model/table.ts'
import { selectDeclared, toDeclared } from '../../sql/declared.ts'
import { declaresCollation } from '../../sql/lexer.ts'
import { findUnreplicable, isOrdinary, timeDefaults } from '../../sql/replicable.ts'
import type { TimeExpression } from '../../sql/time-defaults.ts'

type TimeExpressions = ReadonlyMap<string, TimeExpression>

type ReplicatedFacts = Pick<RegisteredTable, 'unreplicable' | 'hasPassingRowid' | 'timeDefaults'>

const NO_EXPRESSIONS: TimeExpressions = new Map()

/**
 * Finds the tables of a cluster that its nodes would store differently, and the defaults that a service must replace. For a
 * file there is nothing to find.
 */
export const createReplication = ({ replication, read }: Pick<Database, 'replication' | 'read'>) => {
  let reasons: ReadonlyMap<string, Unreplicable> = new Map()
  let expressions: ReadonlyMap<string, TimeExpressions> = new Map()
  /** The folded names of the tables in which two keys may be equal. */
  let collated: ReadonlySet<string> = new Set()

  const load = async () => {
    if (!replication) return
    const declared = (await read(selectDeclared)).map(toDeclared)
    reasons = findUnreplicable(declared)
    const tables = declared.filter(isOrdinary)
    collated = new Set(tables.filter(({ sql }) => declaresCollation(String(sql))).map(({ name }) => foldName(name)))
    expressions = new Map(tables.map((table) => [foldName(table.name), timeDefaults(table)]))
  }

  const defaultsOf = (table: string, { columns }: Structure): readonly TimeDefault[] => {
    const found = expressions.get(foldName(table)) ?? NO_EXPRESSIONS
    return columns.flatMap((column) => {
      const expression = found.get(foldName(column.name))
      if (!replication || !expression) return []
      const { sql, times } = expression
      return [{ column, valueAt: (now: number) => replication.evaluate(sql, Array(times).fill(now / 1000)) }]
    })
  }

  /**
   * Whether the rowid is no column, and the key alone identifies a record. Keys that are NULL or equal by a collation do not:
   * for them the rowid is used, which SQLite's VACUUM keeps if the table has an index, but does not promise to keep.
   */
  const hasPassingRowid = (table: string, structure: Structure) => {
    const { rowid, key, columns } = structure
    if (!replication || rowid === null || key.includes(rowid) || collated.has(foldName(table))) return false
    return !columns.some((column) => key.includes(column.name) && isNullable(structure, column))
  }

  return {
    load,
    /** Returns what a table of a cluster differs in from one of a file. */
    of: (table: string, structure: Structure): ReplicatedFacts => {
      const unreplicable = reasons.get(foldName(table))
      const found = defaultsOf(table, structure)
      return {
        ...(unreplicable && { unreplicable }),
        ...(hasPassingRowid(table, structure) && { hasPassingRowid: true as const }),
        ...(found.length > 0 && { timeDefaults: found })
      }
    }
  }
}
