import type { Table, TableForeignKey } from '../../tables/queries.ts'
import { parseDraft, toDraft } from '../fields/draft.ts'
import type { Row } from '../keys.ts'

/** Records of another table that refer to a record. */
export interface Incoming {
  readonly table: Table
  readonly fields: readonly string[]
  /** Their filter, as JSON text. */
  readonly filter: string
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** Returns the condition on each field of the foreign key. A value of NULL has no references. */
const conditionsOf = (table: Table, { fields, targetFields }: TableForeignKey, record: Row) =>
  fields.map((name, index) => {
    const target = table.fields.find((field) => field.name === targetFields[index])
    const draft = target && toDraft(record[target.name])
    const parsed =
      target && typeof draft === 'string'
        ? parseDraft(target, draft, typeof record[target.name] === 'number')
        : undefined
    return parsed && 'value' in parsed ? ([name, { eq: parsed.value }] as const) : undefined
  })

/** Returns the foreign keys of all tables that refer to this record. */
export const incomingOf = (tables: readonly Table[], table: Table, record: Row): readonly Incoming[] =>
  tables.flatMap((other) =>
    other.foreignKeys
      .filter((foreignKey) => same(foreignKey.table, table.name))
      .flatMap((foreignKey) => {
        const conditions = conditionsOf(table, foreignKey, record)
        if (!conditions.every((condition) => condition !== undefined)) return []
        const filter = JSON.stringify({ where: Object.fromEntries(conditions) })
        return [{ table: other, fields: foreignKey.fields, filter }]
      })
  )

export const hrefOf = ({ table, filter }: Incoming) => `/tables/${table.id}?filter=${encodeURIComponent(filter)}`
