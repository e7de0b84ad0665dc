import { kindOf } from '../model/kinds/kind-of.ts'
import { parseInteger } from '../model/literals.ts'
import type { SqlValue } from '../model/sql-value.ts'
import type { Column, RegisteredTable, Structure } from '../model/table.ts'
import { columnRef, type Identifier } from './identifiers.ts'
import type { Param } from './statement.ts'

/** Decoded characters; a longer key does not fit in a path. */
export const MAX_KEY_LENGTH = 8192

/**
 * An index serves only comparisons in its own collation. That may differ from the column's, and no pragma returns the
 * column's. A condition in every collation matches exactly the rows of the BINARY one, and any of the indexes can serve
 * it. https://sqlite.org/datatype3.html#collation
 */
const COLLATIONS = ['BINARY', 'NOCASE', 'RTRIM']

const inEachCollation = (condition: (collation: string) => string) => COLLATIONS.map(condition).join(' AND ')

/** Returns the parameters of a condition that is repeated in each collation. */
export const forEachCollation = <T extends Param>(values: readonly T[]) => COLLATIONS.flatMap(() => values)

/**
 * Returns a condition for exactly this value. `value`: an SQL expression; for a parameter bind `forEachCollation`.
 */
export const isExactly = (column: Identifier, value: string) =>
  inEachCollation((collation) => `${column} = ${value} COLLATE ${collation}`)

const parsePart = (column: Column, { isRowidKey }: Structure, text: string): readonly SqlValue[] | undefined => {
  if (isRowidKey) {
    const integer = parseInteger(text)
    return integer === undefined ? undefined : [integer]
  }
  const values = kindOf(column).parseKey(text)
  return values && forEachCollation(values)
}

const decodePart = (part: string) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

const partsOf = (text: string, count: number) => {
  if (count === 1) return [text]
  const parts = text.split(',').map(decodePart)
  return parts.length === count ? parts : []
}

/** The columns of the key, in its order. */
export const keyColumns = ({ key, columns }: Structure) =>
  key.map((name) => columns.find((column) => column.name === name) as Column)

/** Returns the text of each part of a key, by the column's name. */
export const keyTexts = ({ key }: Structure, text: string): ReadonlyMap<string, string | undefined> => {
  const parts = partsOf(text, key.length)
  return new Map(key.map((name, index) => [name, parts[index]]))
}

/** Returns a parser from the text of a key to the parameters of `keyMatch`, or undefined if no key has this text. */
export const keyParser = (structure: Structure) => {
  const columns = keyColumns(structure)
  return (text: string): readonly SqlValue[] | undefined => {
    const parts = partsOf(text, columns.length)
    const values: SqlValue[] = []
    for (const [index, column] of columns.entries()) {
      const part = parts[index]
      const value = part === undefined ? undefined : parsePart(column, structure, part)
      if (value === undefined) return undefined
      values.push(...value)
    }
    return values
  }
}

const partMatch = (column: Column, { name, structure }: TableKey) => {
  const ref = columnRef(name, column.name)
  if (structure.isRowidKey) return `${ref} = ?`
  if (!kindOf(column).isUntyped) return isExactly(ref, '?')
  return inEachCollation((collation) => `${ref} COLLATE ${collation} IN (?, ?)`)
}

type TableKey = Pick<RegisteredTable, 'name' | 'structure'>

/** Returns a condition for the row with the key. For an untyped key it can match two rows. */
export const keyMatch = (table: TableKey) =>
  keyColumns(table.structure)
    .map((column) => partMatch(column, table))
    .join(' AND ')
