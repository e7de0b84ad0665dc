import { foldName } from '../model/names.ts'
import type { Unreplicable } from '../model/table.ts'
import type { Declared } from './declared.ts'
import {
  actionsIn,
  after,
  type DeclaredColumn,
  type DeclaredTable,
  defaultOf,
  type ForeignKeyAction,
  toDeclaredTable
} from './declared-tables.ts'
import { isKeyword, type Token, tokensOf } from './lexer.ts'
import { findNodeValue, type NodeValue } from './node-values.ts'
import { type TimeExpression, timeExpression } from './time-defaults.ts'
import { changesIn } from './trigger-bodies.ts'
import { type DeclaredSources, triggerProblem } from './trigger-reasons.ts'

/** Whether it is a table that is neither virtual nor a view. */
export const isOrdinary = ({ type, sql }: Declared) => type === 'table' && !/^create virtual/i.test(String(sql))

const isInternal = ({ name }: Declared) => /^sqlite_/i.test(name)

const toSources = (declared: readonly Declared[]): DeclaredSources => {
  const ordinary = declared.filter((row) => isOrdinary(row) && !isInternal(row))
  const views = declared.filter(({ type }) => type === 'view')
  return {
    tables: new Map(ordinary.map((row) => [foldName(row.name), toDeclaredTable(row)])),
    views: new Map(views.map(({ name, sql }) => [foldName(name), tokensOf(String(sql))]))
  }
}

/** NULL becomes the default, also if the column is sent. */
const replacesNull = ({ parts }: DeclaredColumn) => isKeyword(parts[after(parts, 'CONFLICT')]?.[0].text, 'REPLACE')

/** Returns the default of a column with parameters for the time; null if it needs none, or cannot be replaced. */
const timeDefaultOf = ({ sql }: DeclaredTable, column: DeclaredColumn): TimeExpression | null => {
  const tokens = defaultOf(column)
  return tokens && !replacesNull(column) ? timeExpression(sql, tokens) : null
}

/**
 * Returns the defaults of a table that depend on the time, by the folded name of the column. On a cluster, an insert that
 * does not have the column must set it to the expression.
 */
export const timeDefaults = (declared: Declared): ReadonlyMap<string, TimeExpression> => {
  const table = toDeclaredTable(declared)
  return new Map(
    table.columns.flatMap((column) => {
      const expression = timeDefaultOf(table, column)
      return expression ? [[foldName(column.name), expression]] : []
    })
  )
}

const withSubject = (subject: string, problem: NodeValue | undefined): Unreplicable[] =>
  problem ? [{ subject, ...problem }] : []

const HIDDEN_KEY: NodeValue = {
  cause: 'its key is a rowid that is no column, which changes when a node runs VACUUM',
  remedy: 'Create the table again with an INTEGER PRIMARY KEY or another primary key.'
}

const OWN_DEFAULT_REMEDY = 'Remove the default, and send the value with each record.'

const hasHiddenKey = ({ isWithoutRowid, hasKey }: DeclaredTable) => !isWithoutRowid && !hasKey

/** Returns what differs only for the inserts and keys of requests. */
const reasonsOfRequests = (table: DeclaredTable): readonly Unreplicable[] => [
  ...withSubject(`the table '${table.name}'`, hasHiddenKey(table) ? HIDDEN_KEY : undefined),
  ...table.columns.flatMap((column) => {
    const problem = findNodeValue(defaultOf(column) ?? [])
    if (!problem || timeDefaultOf(table, column)) return []
    return [{ subject: `the default of '${column.name}'`, cause: problem.cause, remedy: OWN_DEFAULT_REMEDY }]
  })
]

/** Returns the tokens of generated columns and of CHECKs, in which SQLite refuses the current time. */
const guardedTokens = (parts: DeclaredColumn['parts']): readonly Token[] =>
  parts.flatMap((part, index) => {
    const before = parts[index - 1]?.[0].text
    return isKeyword(before, 'AS') || isKeyword(before, 'CHECK') ? part : []
  })

/** The foreign keys of a table. */
const actionsOf = ({ columns, constraints }: DeclaredTable): readonly ForeignKeyAction[] =>
  [...columns.map(({ parts }) => parts), ...constraints].flatMap(actionsIn)

const setDefaultProblem = (table: DeclaredTable): NodeValue | undefined => {
  if (!actionsOf(table).some(({ setsDefaults }) => setsDefaults)) return undefined
  return table.columns.map((column) => findNodeValue(defaultOf(column) ?? [])).find((problem) => problem)
}

/** Returns what differs for each write to the table, also for those of triggers. */
const reasonsOfTable = (table: DeclaredTable): readonly Unreplicable[] => [
  ...table.columns.flatMap(({ name, parts }) =>
    withSubject(`the column '${name}' of '${table.name}'`, findNodeValue(guardedTokens(parts), true))
  ),
  ...table.constraints.flatMap((parts) =>
    withSubject(`a CHECK of '${table.name}'`, findNodeValue(guardedTokens(parts), true))
  ),
  ...withSubject(`ON DELETE or ON UPDATE SET DEFAULT of '${table.name}'`, setDefaultProblem(table))
]

/** The tokens after the name of the table, which may be that of a function. */
const indexProblem = ({ sql }: Declared) => {
  const tokens = tokensOf(String(sql))
  return findNodeValue(tokens.slice(tokens.findIndex(({ text }) => text === '(')), true)
}

const reasonsOfOthers = (declared: readonly Declared[], sources: DeclaredSources) =>
  declared.map((row): readonly [string, readonly Unreplicable[]] => {
    const { type, name, tableName, sql } = row
    const table = foldName(tableName)
    if (type === 'trigger')
      return [table, withSubject(`the trigger '${name}' of '${tableName}'`, triggerProblem(row, sources))]
    const isIndex = type === 'index' && sql !== null
    return [table, isIndex ? withSubject(`the index '${name}' of '${tableName}'`, indexProblem(row)) : []]
  })

/** Returns the values of each name. */
const groupByName = <T>(entries: Iterable<readonly [string, T]>): ReadonlyMap<string, readonly T[]> => {
  const groups = new Map<string, T[]>()
  for (const [name, value] of entries) {
    const group = groups.get(name)
    if (group) group.push(value)
    else groups.set(name, [value])
  }
  return groups
}

/** Returns the tables that a write to each table changes directly, by folded names: by triggers and foreign keys. */
const changedBy = (declared: readonly Declared[], { tables }: DeclaredSources) => {
  const byTriggers = declared.flatMap(({ type, tableName, sql }) =>
    type === 'trigger'
      ? changesIn(tokensOf(String(sql))).map(({ target }) => [foldName(tableName), target] as const)
      : []
  )
  const byKeys = [...tables].flatMap(([name, table]) => actionsOf(table).map(({ target }) => [target, name] as const))
  return groupByName([...byTriggers, ...byKeys])
}

/** Returns the names, and all names to which they lead. */
const reachedFrom = (name: string, next: ReadonlyMap<string, readonly string[]>) => {
  const reached = new Set([name])
  for (const each of reached) for (const other of next.get(each) ?? []) reached.add(other)
  return [...reached]
}

/**
 * Returns the tables that cannot be changed on a cluster, by their folded names, because each node would store another
 * value. `declared`: the whole schema.
 */
export const findUnreplicable = (declared: readonly Declared[]): ReadonlyMap<string, Unreplicable> => {
  const sources = toSources(declared)
  const changed = changedBy(declared, sources)
  const ofTables = [...sources.tables].map(([name, table]) => [name, reasonsOfTable(table)] as const)
  const reasons = groupByName([...ofTables, ...reasonsOfOthers(declared, sources)])
  const reasonsOf = (name: string) => reasons.get(name)?.flat() ?? []
  return new Map(
    [...sources.tables].flatMap(([name, table]) => {
      const [reason] = [...reasonsOfRequests(table), ...reachedFrom(name, changed).flatMap(reasonsOf)]
      return reason ? [[name, reason]] : []
    })
  )
}
