import { foldName } from '../model/names.ts'
import type { SqlValue } from '../model/sql-value.ts'
import { dropTable, renameTable, TEMPORARY_NAME } from './alter.ts'
import { literal } from './ddl.ts'
import { type Dialect, tableGuard } from './dialect.ts'
import { columnRef, identifier } from './identifiers.ts'
import { endOfPart, isKeyword, nameIn, partsOf, splitTokens, type Token, textIn, tokensOf } from './lexer.ts'
import { type Statement, statement, type Unit } from './statement.ts'
import { joinTerms } from './terms.ts'

/** The tokens of one column or constraint of a table. */
export type Definition = readonly [Token, ...Token[]]

/** Changes to the declaration of a column. An absent part keeps its declaration. */
export interface NewDefinition {
  readonly type?: string | undefined
  /** null: no default. */
  readonly defaultValue?: SqlValue | undefined
}

const CONSTRAINT = /^(?:constraint|primary|not|null|unique|check|default|collate|references|generated|as)$/i

const endOf = ({ text, index }: Token) => index + text.length

/** Returns the tokens between the parentheses of a CREATE TABLE statement, split at its commas. */
export const definitionsIn = (sql: string): readonly Definition[] => {
  const tokens = tokensOf(sql)
  const open = tokens.findIndex(({ text }) => text === '(')
  const definitions = splitTokens(tokens.slice(open + 1, endOfPart(tokens, open) - 1), ',')
  return definitions.filter((tokens): tokens is Definition => tokens.length > 0)
}

/** Returns the position of the constraint in the tokens of a column, or -1. Tokens in parentheses do not count. */
const findConstraint = (tokens: readonly Token[], matches: (text: string) => boolean) => {
  const found = partsOf(tokens).find(([{ text }]) => matches(text))
  return found ? tokens.indexOf(found[0]) : -1
}

/** Returns the number of tokens in the value of a DEFAULT clause. */
const lengthOfValue = (tokens: readonly Token[]) => (/^[+-]$/.test(String(tokens[0]?.text)) ? 2 : endOfPart(tokens, 0))

/** SQLite also accepts a text as the name of a column. */
const isNamed = ([{ text }]: Definition, column: string) =>
  foldName(nameIn(text) ?? String(textIn(text))) === foldName(column)

const withoutDefault = (sql: string, tokens: readonly Token[]) => {
  const position = findConstraint(tokens, (text) => isKeyword(text, 'DEFAULT'))
  if (position === -1) return sql
  const value = tokens.slice(position + 1)
  const [before, last] = [tokens[position - 1], value[lengthOfValue(value) - 1]] as [Token, Token]
  return `${sql.slice(0, endOf(before))}${sql.slice(endOf(last))}`
}

/**
 * Returns the CREATE TABLE statement with another type or default of a column. The rest stays as it was written. Returns
 * null if the statement does not declare the column.
 */
export const redefined = (sql: string, column: string, { type, defaultValue }: NewDefinition): string | null => {
  const tokens = definitionsIn(sql).find((definition) => isNamed(definition, column))
  if (!tokens) return null
  const [name, ...rest] = tokens
  const constraint = findConstraint(rest, (text) => CONSTRAINT.test(text))
  const typeTokens = constraint === -1 ? rest : rest.slice(0, constraint)
  const last = typeTokens.at(-1) ?? name
  // From the end of the declaration, so that the positions before stay right.
  const shortened = defaultValue === undefined ? sql : withoutDefault(sql, tokens)
  const fallback = defaultValue == null ? '' : ` DEFAULT ${literal(defaultValue)}`
  const declaredType = type === undefined ? sql.slice(endOf(name), endOf(last)) : ` ${type}`
  return `${sql.slice(0, endOf(name))}${declaredType}${fallback}${shortened.slice(endOf(last))}`
}

/** Returns the name of a generated column of a CREATE TABLE statement whose expression names the column, if any. */
export const generatedFrom = (sql: string, column: string): string | undefined => {
  const uses = ({ text }: Token) => foldName(nameIn(text) ?? '') === foldName(column)
  const generated = definitionsIn(sql).find((tokens) => {
    const position = findConstraint(tokens, (text) => isKeyword(text, 'AS'))
    return position !== -1 && tokens.slice(position).some(uses)
  })
  return generated && (nameIn(generated[0].text) ?? textIn(generated[0].text))
}

/** A table to create again under its name. */
export interface Rebuild {
  readonly name: string
  /** The new CREATE TABLE statement. */
  readonly declaration: string
  /** The columns to copy, with the rowid if it has a name. */
  readonly columns: readonly string[]
  /** The column to convert to the affinity of a type. */
  readonly conversion?: { readonly column: string; readonly type: string } | undefined
  readonly isAutoIncrement: boolean
  /** The declarations of its indexes and triggers. */
  readonly dependents: readonly string[]
}

/** Selects the `rows` of a table, and the `bytes` of their values. */
export const weighTable = (
  table: string,
  columns: readonly string[],
  rowid: string | null,
  dialect: Dialect
): Statement => {
  const widths = columns.map((name) => `ifnull(octet_length(${columnRef(table, name)}), 0)`)
  return statement(
    `SELECT count(*) AS rows, ifnull(sum(${joinTerms(widths, '+')}), 0) AS bytes FROM ${identifier(table)} WHERE ${tableGuard(table, rowid, dialect)}`
  )
}

/** Keys of deleted records must not be used again. */
const keepSequence = (name: string): Unit => [
  statement('DELETE FROM sqlite_sequence WHERE name = ?', [name]),
  statement('INSERT INTO sqlite_sequence (name, seq) SELECT ?, seq FROM sqlite_sequence WHERE name = ?', [
    name,
    TEMPORARY_NAME
  ])
]

/**
 * Returns the unit that creates the table again with a new declaration. The table is renamed first, so that its declaration
 * can name the table itself: the unit runs without foreign keys, so a rename leaves all other declarations as they are.
 */
export const rebuildTable = (rebuild: Rebuild): Unit => {
  const { name, declaration, columns, conversion, isAutoIncrement, dependents } = rebuild
  const values = columns.map((column) => {
    const value = columnRef(TEMPORARY_NAME, column)
    return column === conversion?.column ? `CAST(${value} AS ${conversion.type})` : value
  })
  return [
    renameTable(name, TEMPORARY_NAME),
    statement(declaration),
    statement(
      `INSERT INTO ${identifier(name)} (${columns.map(identifier).join(', ')}) SELECT ${values.join(', ')} FROM ${identifier(TEMPORARY_NAME)}`
    ),
    ...(isAutoIncrement ? keepSequence(name) : []),
    dropTable(TEMPORARY_NAME),
    ...dependents.map((sql) => statement(sql))
  ]
}

/** Selects the number of records that violate a foreign key of the tables, as `violations`. */
export const countViolations = (tables: readonly string[]): Statement =>
  statement(
    `SELECT count(*) AS violations FROM temp.json_each(?) AS checked, temp.pragma_foreign_key_check(checked.value)`,
    [JSON.stringify(tables)]
  )

/** Expects that the number has not changed. */
export const expectViolations = (tables: readonly string[], violations: number): Statement => ({
  sql: `SELECT 1 WHERE (${countViolations(tables).sql}) = ?`,
  params: [...countViolations(tables).params, BigInt(violations)],
  expect: 1
})
