import { texts } from '../../texts/structure.ts'
import type { Table, TableField, TableForeignKey } from '../queries.ts'

const nameOf = ({ name }: TableField) => name

const yesOrNo = (is: boolean) => (is ? texts.yes : texts.no)
const shown = (value: unknown) => (value === undefined ? texts.nothing : JSON.stringify(value))

const defaultOf = ({ defaultKind, defaultValue }: TableField) => {
  if (defaultKind === 'none') return texts.nothing
  return defaultKind === 'expression' ? String(defaultValue) : JSON.stringify(defaultValue)
}

const indexOf = ({ isUnique, isIndexed }: TableField) => {
  if (isUnique) return texts.unique
  return isIndexed ? texts.indexed : texts.nothing
}

/** What is compared of a field, as texts. */
const PROPERTIES: readonly (readonly [label: string, of: (field: TableField) => string])[] = [
  [texts.properties.type, ({ jsonType, sqliteType }) => `${jsonType} (${sqliteType})`],
  [texts.properties.nullable, ({ nullable }) => yesOrNo(nullable)],
  [texts.properties.default, defaultOf],
  [texts.properties.key, ({ isPrimary }) => yesOrNo(isPrimary)],
  [texts.properties.index, indexOf],
  [texts.properties.minimum, ({ minimum }) => shown(minimum)],
  [texts.properties.maximum, ({ maximum }) => shown(maximum)],
  [texts.properties.minLength, ({ minLength }) => shown(minLength)],
  [texts.properties.maxLength, ({ maxLength }) => shown(maxLength)],
  [texts.properties.allowed, ({ allowedValues }) => shown(allowedValues)],
  [texts.properties.exact, ({ isExact }) => yesOrNo(isExact)]
]

/** Returns what differs of a field: "type integer → number, default 1 → none". */
const differences = (before: TableField, after: TableField) =>
  PROPERTIES.map(([label, of]) => [label, of(before), of(after)] as const)
    .filter(([, old, now]) => old !== now)
    .map(([label, old, now]) => texts.difference(label, old, now))
    .join(', ')

const changedFields = (before: Table, after: Table) => {
  const old = new Map(before.fields.map((field) => [field.name, field]))
  return after.fields.flatMap((field) => {
    const earlier = old.get(field.name)
    const changes = earlier ? differences(earlier, field) : ''
    return changes === '' ? [] : [texts.fieldChanged(field.name, changes)]
  })
}

const keyText = ({ fields, table, targetFields }: TableForeignKey) =>
  texts.foreignKey(fields.join(', '), table, targetFields.join(', '))

const changedKeys = (before: Table, after: Table) => {
  const old = before.foreignKeys.map(keyText)
  const now = after.foreignKeys.map(keyText)
  return [
    ...now.filter((key) => !old.includes(key)).map(texts.foreignKeyAppeared),
    ...old.filter((key) => !now.includes(key)).map(texts.foreignKeyGone)
  ]
}

/** Columns that were added or dropped do not change the order of the others. */
const changedOrder = (before: Table, after: Table) => {
  const old = before.fields.map(nameOf)
  const now = after.fields.map(nameOf)
  const stayed = now.filter((name) => old.includes(name))
  const isSame = old.filter((name) => now.includes(name)).every((name, index) => name === stayed[index])
  return isSame ? [] : [texts.orderChanged(now.join(', '))]
}

/** Returns a sentence for each difference between a table before and after a refresh. */
export const changesBetween = (before: Table, after: Table): readonly string[] => {
  const old = new Set(before.fields.map(nameOf))
  const now = new Set(after.fields.map(nameOf))
  return [
    ...after.fields
      .filter(({ name }) => !old.has(name))
      .map((field) => texts.fieldAppeared(field.name, field.isHidden)),
    ...before.fields.filter(({ name }) => !now.has(name)).map(({ name }) => texts.fieldGone(name)),
    ...changedFields(before, after),
    ...changedKeys(before, after),
    ...changedOrder(before, after),
    ...(before.primaryKey === after.primaryKey ? [] : [texts.keyChanged(after.primaryKey)])
  ]
}
