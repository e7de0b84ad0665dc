import type { Structure } from '../model/table.ts'
import type { UniqueKey } from '../model/unique-key.ts'
import { columnRef, identifier } from './identifiers.ts'

export const namesOfKey = ({ fields }: UniqueKey) => fields.map(({ name }) => name)

/** Returns the primary key if it is the rowid, which has no index. */
export const rowidKeys = ({ isRowidKey, key }: Pick<Structure, 'isRowidKey' | 'key'>): readonly UniqueKey[] =>
  isRowidKey ? [{ fields: key.map((name) => ({ name, collation: 'BINARY' })) }] : []

/** Returns a condition for the record with these values, in the collations of the index. NULL equals nothing. */
export const hasKey = (table: string, { fields }: UniqueKey, toValue: (name: string) => string) =>
  fields
    .map(({ name, collation }) => `${columnRef(table, name)} = ${toValue(name)} COLLATE ${identifier(collation)}`)
    .join(' AND ')
