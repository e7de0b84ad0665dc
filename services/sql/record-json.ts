import { kindOf } from '../model/kinds/kind-of.ts'
import type { Column } from '../model/table.ts'
import { selectExpanded } from './expansions.ts'
import { columnRef, textLiteral } from './identifiers.ts'
import type { Expansion, RecordShape } from './record-shape.ts'

/** SQLite functions take at most 1,000 arguments in this build, so json_object takes at most 500 pairs. */
const PAIRS_PER_OBJECT = 500

/** Joins objects as text: `{a}` and `{b}` become `{a,b}`. (`json_patch` would drop nulls.) */
const joinObjects = (objects: readonly string[]) => {
  if (objects.length === 1) return String(objects[0])
  const members = objects.map((object) => `substr(${object}, 2, length(${object}) - 2)`)
  return `'{' || ${members.join(" || ',' || ")} || '}'`
}

/** `json` takes the text of an added record as JSON. It is NULL for NULL. */
const expandedPairs = (parent: string, expansions: readonly Expansion[]) =>
  expansions.map((expansion) => {
    const record = recordJson({ ...expansion.shape, tableName: expansion.alias, expansions: expansion.expansions })
    return `${textLiteral(expansion.column)}, json(${selectExpanded(expansion, parent, record)})`
  })

/** Returns an expression for a record as JSON text, exact for 64-bit integers and doubles (SQLite 3.53 or newer). */
export const recordJson = ({
  tableName,
  isStrict,
  columns,
  dialect,
  integers,
  expansions = []
}: RecordShape): string => {
  const context = { isStrict, integers, base64: dialect.base64 }
  const jsonOf = (column: Column) => kindOf(column).json(columnRef(tableName, column.name), context)
  const pairs = columns.map((column) => `${textLiteral(column.name)}, ${jsonOf(column)}`)
  if (expansions.length > 0) pairs.push(`'expand', json_object(${expandedPairs(tableName, expansions).join(', ')})`)
  // A record of a view without a key may show nothing.
  if (pairs.length === 0) return "'{}'"
  const objects: string[] = []
  for (let start = 0; start < pairs.length; start += PAIRS_PER_OBJECT) {
    objects.push(`json_object(${pairs.slice(start, start + PAIRS_PER_OBJECT).join(', ')})`)
  }
  return joinObjects(objects)
}
