import { hash } from 'node:crypto'
import type { NewTableIndex } from '../../../schemas/table-index.ts'
import type { Database } from '../../engine/database.ts'
import { OWN_PREFIX } from '../names/reserved-names.ts'
import { selectNamed } from '../registry/table-statements.ts'

/** An index that the API creates. */
export type DeclaredIndex = Required<NewTableIndex>

/** Characters of the readable part of a name. */
const MAX_READABLE = 60

/** Returns a name that shows what the index is for. The digest separates names that become equal. */
const nameOf = (table: string, { fields, isUnique }: DeclaredIndex, number: number) => {
  const readable = [table, ...fields].join('_').replaceAll(/\W+/g, '_').slice(0, MAX_READABLE)
  const digest = hash('sha256', JSON.stringify([table, fields, isUnique, ...(number > 1 ? [number] : [])]))
  return `${OWN_PREFIX}${readable}_${digest.slice(0, 8)}`
}

/** Returns a name that the database does not have. An index keeps its name when its table gets another one. */
export const freeIndexName = async (db: Database, table: string, index: DeclaredIndex): Promise<string> => {
  let number = 1
  while ((await db.read(selectNamed(nameOf(table, index, number)))).length > 0) number += 1
  return nameOf(table, index, number)
}
