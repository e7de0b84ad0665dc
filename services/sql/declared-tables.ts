import { foldName } from '../model/names.ts'
import type { Declared } from './declared.ts'
import { isKeyword, nameIn, partsOf, type Token, textIn } from './lexer.ts'
import { type Definition, definitionsIn } from './rebuild.ts'

type Part = readonly [Token, ...Token[]]

export interface DeclaredColumn {
  readonly name: string
  /** Each token, and each group in parentheses, after the name. */
  readonly parts: readonly Part[]
}

/** What the text of a CREATE TABLE statement shows. */
export interface DeclaredTable {
  readonly name: string
  readonly sql: string
  readonly columns: readonly DeclaredColumn[]
  readonly constraints: readonly (readonly Part[])[]
  readonly isWithoutRowid: boolean
  /** The folded name of the column that is the rowid. undefined: VACUUM may change the rowids. */
  readonly alias: string | undefined
  readonly hasKey: boolean
}

/** SQLite accepts a text as a name, too. */
export const anyName = (token: string): string | undefined => nameIn(token) ?? textIn(token)

const CONSTRAINTS = ['CONSTRAINT', 'PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN']

const isConstraint = ([{ text }]: Definition) => CONSTRAINTS.some((word) => isKeyword(text, word))

const toColumn = ([{ text }, ...tokens]: Definition): DeclaredColumn => ({
  name: String(anyName(text)),
  parts: partsOf(tokens)
})

/** Returns the position after this keyword, outside parentheses, or -1. */
export const after = (parts: readonly Part[], word: string, start = 0) => {
  const position = parts.findIndex(([{ text }], index) => index >= start && isKeyword(text, word))
  return position === -1 ? -1 : position + 1
}

/** `INTEGER PRIMARY KEY DESC` is no name of the rowid: https://sqlite.org/lang_createtable.html#rowids_and_the_integer_primary_key */
const isAlias = ({ parts }: DeclaredColumn) => {
  const key = after(parts, 'PRIMARY')
  return key !== -1 && isInteger(parts) && !isKeyword(parts[key + 1]?.[0].text, 'DESC')
}

const TYPE_ENDS = /^(?:constraint|primary|not|null|unique|check|default|collate|references|generated|as)$/i

const isInteger = (parts: readonly Part[]) =>
  parts[0]?.length === 1 &&
  foldName(String(anyName(parts[0][0].text))) === 'integer' &&
  (parts[1] === undefined || TYPE_ENDS.test(parts[1][0].text))

/** Returns the only column of a PRIMARY KEY constraint. */
const onlyColumn = (constraint: readonly Part[]) => {
  const texts = constraint[after(constraint, 'KEY')]?.map(({ text }) => text)
  return texts && !texts.includes(',') ? foldName(String(anyName(String(texts[1])))) : undefined
}

/** Returns what the declaration of an ordinary table shows. */
export const toDeclaredTable = ({ name, sql, isWithoutRowid }: Declared): DeclaredTable => {
  const definitions = definitionsIn(String(sql))
  const columns = definitions.filter((definition) => !isConstraint(definition)).map(toColumn)
  const constraints = definitions.filter(isConstraint).map((tokens) => partsOf(tokens) as readonly Part[])
  const key = constraints.find((parts) => after(parts, 'PRIMARY') !== -1)
  const only = key && onlyColumn(key)
  const isOnly = ({ name, parts }: DeclaredColumn) => foldName(name) === only && isInteger(parts)
  const alias = isWithoutRowid ? undefined : columns.find((column) => isAlias(column) || isOnly(column))?.name
  return {
    name,
    sql: String(sql),
    columns,
    constraints,
    isWithoutRowid,
    alias: alias && foldName(alias),
    hasKey: key !== undefined || columns.some(({ parts }) => after(parts, 'PRIMARY') !== -1)
  }
}

/** Returns the tokens of the DEFAULT clause of a column. */
export const defaultOf = ({ parts }: DeclaredColumn): readonly Token[] | undefined => {
  const position = after(parts, 'DEFAULT')
  return position === -1 ? undefined : parts[position]
}

/** A foreign key whose actions change rows of its table. */
export interface ForeignKeyAction {
  /** The folded name of the table to which it refers. */
  readonly target: string
  readonly setsDefaults: boolean
}

const ACTIONS = ['CASCADE', 'SET']

/** Returns the actions of the foreign keys in a column or a constraint. */
export const actionsIn = (parts: readonly Part[]): readonly ForeignKeyAction[] => {
  const texts = parts.map(([{ text }]) => text)
  return texts.flatMap((text, index): ForeignKeyAction[] => {
    if (!isKeyword(text, 'REFERENCES')) return []
    const next = after(parts, 'REFERENCES', index + 1)
    const clause = texts.slice(index + 1, next === -1 ? undefined : next - 1)
    const isAction = (word: string, position: number) =>
      ACTIONS.some((action) => isKeyword(word, action)) &&
      ['DELETE', 'UPDATE'].some((event) => isKeyword(clause[position - 1], event))
    if (!clause.some(isAction)) return []
    const setsDefaults = clause.some((word, at) => isKeyword(word, 'SET') && isKeyword(clause[at + 1], 'DEFAULT'))
    return [{ target: foldName(String(anyName(String(clause[0])))), setsDefaults }]
  })
}
