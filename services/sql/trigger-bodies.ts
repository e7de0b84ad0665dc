import { foldName } from '../model/names.ts'
import { anyName } from './declared-tables.ts'
import { isKeyword, partsOf, splitTokens, type Token } from './lexer.ts'

/** A statement of a trigger that changes a table. */
export interface TriggerChange {
  /** The folded name of the table or view. */
  readonly target: string
  readonly inserts: boolean
  /** The folded names of the columns that an INSERT sets; null if it sets all. */
  readonly listed: readonly string[] | null
  /** An INSERT of several rows, whose order each node may choose: a SELECT from a table without ORDER BY. */
  readonly isUnordered: boolean
  readonly hasConflictClause: boolean
  /** Whether the key that an INSERT sets may be NULL. */
  readonly mayInsertNull: boolean
}

const STATEMENTS = ['INSERT', 'REPLACE', 'UPDATE', 'DELETE', 'SELECT']
const CHANGES = ['INSERT', 'REPLACE', 'UPDATE', 'DELETE']

const isOneOf = (token: Token | undefined, words: readonly string[]) =>
  words.some((word) => isKeyword(token?.text, word))

/** BEGIN may also be the name of a column. */
const bodyOf = (tokens: readonly Token[]) => {
  const begin = tokens.findIndex(
    ({ text }, index) => isKeyword(text, 'BEGIN') && isOneOf(tokens[index + 1], STATEMENTS)
  )
  return tokens.slice(begin + 1)
}

/** Returns the position of the name: `INSERT OR x INTO name`, `UPDATE OR x name`, `DELETE FROM name`. */
const positionOfName = (tokens: readonly Token[]) => {
  const isReplaced = isOneOf(tokens[1], ['OR'])
  const start = isReplaced ? 3 : 1
  return isOneOf(tokens[0], ['UPDATE']) ? start : start + 1
}

const hasWord = (parts: readonly (readonly Token[])[], word: string) =>
  parts.some(([token]) => isKeyword(token?.text, word))

const namesOf = (group: readonly Token[]) =>
  splitTokens(group.slice(1, -1), ',').map(([token]) => foldName(String(anyName(String(token?.text)))))

/** Returns the columns that an INSERT names. SQLite accepts no DEFAULT VALUES in a trigger. */
const listedIn = ([first]: readonly (readonly Token[])[]) => (first?.[0]?.text === '(' ? namesOf(first) : null)

const toChange = (tokens: readonly Token[]): TriggerChange => {
  const position = positionOfName(tokens)
  const hasAlias = isKeyword(tokens[position + 1]?.text, 'AS')
  const rest = tokens.slice(position + (hasAlias ? 3 : 1))
  const parts = partsOf(rest)
  const inserts = isOneOf(tokens[0], ['INSERT', 'REPLACE'])
  return {
    target: foldName(String(anyName(String(tokens[position]?.text)))),
    inserts,
    listed: inserts ? listedIn(parts) : null,
    isUnordered: inserts && hasWord(parts, 'SELECT') && hasWord(parts, 'FROM') && !hasWord(parts, 'ORDER'),
    hasConflictClause: isOneOf(tokens[0], ['REPLACE']) || isOneOf(tokens[1], ['OR']) || hasWord(parts, 'CONFLICT'),
    mayInsertNull: rest.some(({ text }) => isKeyword(text, 'NULL'))
  }
}

/** Returns the changes in the body of a CREATE TRIGGER statement. */
export const changesIn = (tokens: readonly Token[]): readonly TriggerChange[] =>
  splitTokens(bodyOf(tokens), ';')
    .filter(([first]) => isOneOf(first, CHANGES))
    .map(toChange)
