import { texts } from '../../texts/structure.ts'
import type { Table, TableField } from '../queries.ts'

const describe = ({ jsonType, sqliteType, nullable, defaultValue, isPrimary, isIndexed, isUnique }: TableField) =>
  JSON.stringify([jsonType, sqliteType, nullable, defaultValue, isPrimary, isIndexed, isUnique])

const nameOf = ({ name }: TableField) => name

/** Returns a sentence for each difference between a table before and after a refresh. */
export const changesBetween = (before: Table, after: Table): readonly string[] => {
  const old = new Map(before.fields.map((field) => [field.name, field]))
  const now = new Set(after.fields.map(nameOf))
  const appeared = after.fields.filter(({ name }) => !old.has(name))
  const gone = before.fields.filter(({ name }) => !now.has(name))
  const changed = after.fields.filter((field) => {
    const earlier = old.get(field.name)
    return earlier !== undefined && describe(earlier) !== describe(field)
  })
  return [
    ...appeared.map(({ name, isHidden }) => texts.fieldAppeared(name, isHidden)),
    ...gone.map(({ name }) => texts.fieldGone(name)),
    ...changed.map(({ name }) => texts.fieldChanged(name)),
    ...(before.primaryKey === after.primaryKey ? [] : [texts.keyChanged(after.primaryKey)])
  ]
}
