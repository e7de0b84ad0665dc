import { foldName } from '../model/names.ts'
import type { Declared } from './declared.ts'
import { anyName, type DeclaredTable, defaultOf } from './declared-tables.ts'
import { ROWID_NAMES } from './introspection.ts'
import { isKeyword, partsOf, splitTokens, type Token, tokensOf } from './lexer.ts'
import { findNodeValue, type NodeValue } from './node-values.ts'
import { changesIn, type TriggerChange } from './trigger-bodies.ts'

/** The tables and the views of a database, by their folded names. */
export interface DeclaredSources {
  readonly tables: ReadonlyMap<string, DeclaredTable>
  readonly views: ReadonlyMap<string, readonly Token[]>
}

const namesIn = (tokens: readonly Token[]) => tokens.flatMap(({ text }) => anyName(text) ?? []).map(foldName)

/** Returns the tokens of a trigger, and those of each view that it may read. */
const readTokens = (tokens: readonly Token[], { views }: DeclaredSources): readonly (readonly Token[])[] => {
  const reached = new Set<readonly Token[]>([tokens])
  for (const each of reached) {
    for (const name of namesIn(each)) {
      const view = views.get(name)
      if (view) reached.add(view)
    }
  }
  return [...reached]
}

const hasColumn = ({ columns }: DeclaredTable, name: string) => columns.some((column) => foldName(column.name) === name)

/** A rowid that is no column: the VACUUM of one node may change it. */
const rowidProblem = (names: readonly string[], { tables }: DeclaredSources): NodeValue | undefined => {
  const rowids = names.filter((name) => ROWID_NAMES.includes(name))
  const hides = (table: DeclaredTable) =>
    !table.isWithoutRowid && table.alias === undefined && rowids.some((rowid) => !hasColumn(table, rowid))
  const table = names.flatMap((name) => tables.get(name) ?? []).find(hides)
  return (
    table && {
      cause: `the rowid of '${table.name}' changes when a node runs VACUUM`,
      remedy: `Give '${table.name}' an INTEGER PRIMARY KEY.`
    }
  )
}

/** Whether a SELECT has a LIMIT without an order, so that each node may choose other rows. */
const hasUnorderedLimit = (tokens: readonly Token[]): boolean => {
  const parts = partsOf(tokens)
  const has = (word: string) => parts.some(([{ text }]) => isKeyword(text, word))
  return (
    (has('LIMIT') && !has('ORDER')) || parts.some((part) => part.length > 1 && hasUnorderedLimit(part.slice(1, -1)))
  )
}

/** Returns the column with a default of its own on each node that an INSERT leaves out. */
const omittedIn = ({ listed }: TriggerChange, table: DeclaredTable) =>
  table.columns.find((column) => {
    const isLeftOut = listed !== null && !listed.includes(foldName(column.name))
    return isLeftOut && findNodeValue(defaultOf(column) ?? [])
  })

/** Whether the key of each new row is in the INSERT, so that the order of the rows does not decide it. */
const setsKey = ({ listed, mayInsertNull }: TriggerChange, table: DeclaredTable | undefined) => {
  if (table === undefined) return listed?.some((name) => ROWID_NAMES.includes(name)) === true
  if (table.alias === undefined) return table.hasKey
  return !mayInsertNull && (listed === null || listed.includes(table.alias))
}

const insertProblem = (change: TriggerChange, { tables }: DeclaredSources): NodeValue | undefined => {
  const table = tables.get(change.target)
  const omitted = table && omittedIn(change, table)
  if (omitted) {
    return {
      cause: `its INSERT leaves out '${omitted.name}' of '${change.target}', whose default differs between nodes`,
      remedy: `Set '${omitted.name}' in the trigger to a value of NEW.`
    }
  }
  if (!change.isUnordered || (!change.hasConflictClause && setsKey(change, table))) return undefined
  return {
    cause: `its INSERT … SELECT into '${change.target}' has no ORDER BY, so each node may number the rows in another order`,
    remedy: 'Add ORDER BY to the SELECT.'
  }
}

/** Returns why the effects of a trigger may differ between nodes. */
export const triggerProblem = (trigger: Declared, sources: DeclaredSources): NodeValue | undefined => {
  const tokens = tokensOf(String(trigger.sql))
  const read = readTokens(tokens, sources)
  for (const each of read) {
    const problem = findNodeValue(each)
    if (problem) return problem
  }
  const rowid = rowidProblem([foldName(trigger.tableName), ...read.flatMap(namesIn)], sources)
  if (rowid) return rowid
  for (const change of changesIn(tokens)) {
    const problem = insertProblem(change, sources)
    if (problem) return problem
  }
  if (!read.flatMap((each) => splitTokens(each, ';')).some(hasUnorderedLimit)) return undefined
  return { cause: 'LIMIT without ORDER BY may choose other rows on each node', remedy: 'Add ORDER BY before LIMIT.' }
}
