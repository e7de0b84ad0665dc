import { MAX_REFERENCE_DEPTH, MAX_REFERENCES } from '../../schemas/query.ts'
import { foldName } from '../model/names.ts'
import type { Column, RegisteredTable } from '../model/table.ts'
import { EXPAND_MEMBER } from '../records/read/expansions.ts'
import { expandableKey } from '../tables/foreign-keys.ts'
import type { Json } from './json.ts'
import { closedObject, inComment, objectOf, refTo, type TypedTable } from './typed-schemas.ts'

/** Generators ignore case and punctuation: a client cannot have the fields `expand` and `Expand_` in one record. */
const collidesWithExpand = ({ name }: Column) => foldName(name.replaceAll(/[^A-Za-z0-9]/g, '')) === EXPAND_MEMBER

/**
 * Returns the tables to which the columns refer and whose records a query can add, by the name of the column.
 * `targetOf` returns a table of the document if the caller may read this field of it.
 */
export const expansionsOf = (
  table: RegisteredTable,
  columns: readonly Column[],
  targetOf: (table: string, field: string) => RegisteredTable | undefined
): ReadonlyMap<string, RegisteredTable> => {
  const expansions = new Map<string, RegisteredTable>()
  if (columns.some(collidesWithExpand)) return expansions
  for (const column of columns) {
    const key = expandableKey(table, column)
    const field = key?.targetFields[0]
    if (key === undefined || field === undefined) continue
    const target = targetOf(key.table, field)
    if (target?.structure.columns.some(({ name, isUnique }) => name === field && isUnique))
      expansions.set(column.name, target)
  }
  return expansions
}

/** Returns the `expand` of a query. */
export const expandOperand = ({ expansions }: TypedTable): Json => {
  const fields = [...expansions.keys()].map((name) => inComment(JSON.stringify(name))).join(', ')
  return {
    type: 'array',
    items: { type: 'string' },
    maxItems: MAX_REFERENCES,
    description: `Fields whose records to add: ${fields}. \`a.b\` goes on in the added record, to a depth of ${MAX_REFERENCE_DEPTH}.`
  }
}

/** Returns the schema of the added records of one record. */
export const expandSchema = ({ expansions }: TypedTable): Json => {
  const records = [...expansions].map(
    ([field, { choices }]) => [field, { anyOf: [refTo(choices.clientName), { type: 'null' }] }] as const
  )
  return closedObject(objectOf(records), [], 'The records that the query adds.')
}
