import { isDeepStrictEqual } from 'node:util'
import type { ForeignKey } from '../../../schemas/table.ts'
import { isStorableAs, storedTypeOf } from '../../model/column-types.ts'
import { foldName } from '../../model/names.ts'
import type { Choices, Column, FieldChoices, RegisteredTable, Structure } from '../../model/table.ts'
import { defaultAs, isRowidName, visibleRowidName } from '../../sql/introspection.ts'
import { withViewKey } from '../../sql/views.ts'

/** A column as SQLite describes it, with the choices for it. */
const withChoices = (column: Column, field: FieldChoices): Column => {
  const { name, label, isHidden, isNullableKey = column.nullable } = field
  const jsonType = isStorableAs(field.jsonType, column.sqliteType) ? field.jsonType : column.jsonType
  // The checks were read for the type that the declaration shows.
  const isDeclared = jsonType === column.jsonType
  const { dateFormat, ...described } = column
  return {
    ...described,
    name,
    label,
    jsonType,
    nullable: column.isPrimary ? isNullableKey : column.nullable,
    defaultValue: defaultAs(column.defaultValue, jsonType),
    isHidden,
    isReadonly: field.isReadonly || column.isGenerated,
    checks: isDeclared ? column.checks : {},
    ...(isDeclared && dateFormat && { dateFormat })
  }
}

/** A registered column that SQLite does not have. SQL that names it fails, which leads to STRUCTURE_CHANGED. */
const missingColumn = ({ name, label, jsonType, isHidden, isReadonly, isNullableKey }: FieldChoices): Column => ({
  name,
  label,
  sqliteType: storedTypeOf[jsonType],
  jsonType,
  nullable: isNullableKey ?? true,
  defaultValue: null,
  isPrimary: false,
  isAutoIncrement: false,
  isHidden,
  isReadonly,
  isIndexed: false,
  isUnique: false,
  declaredType: storedTypeOf[jsonType],
  isGenerated: false,
  isNotNull: false,
  defaultLiteral: 'none',
  checks: {}
})

/** The structure of a table that SQLite does not have, for lists of tables. */
const missingStructure = ({ fields, autoTimestamps, viewKey }: Choices): Structure => {
  const isKey = ({ isNullableKey }: FieldChoices) => isNullableKey !== undefined
  return {
    columns: fields.map((field) => ({ ...missingColumn(field), isPrimary: isKey(field) })),
    isView: viewKey !== undefined,
    isStrict: false,
    key: viewKey ?? fields.filter(isKey).map(({ name }) => name),
    isRowidKey: false,
    rowid: null,
    hasCollatedKey: false,
    conflicts: null,
    foreignKeys: [],
    autoTimestamps
  }
}

/** Returns the foreign keys with the names of the fields as they are registered, without those of other columns. */
const servedForeignKeys = (
  { foreignKeys }: Structure,
  registered: ReadonlyMap<string, Column>
): readonly ForeignKey[] =>
  foreignKeys.flatMap((key) => {
    const fields = key.fields.flatMap((name) => registered.get(foldName(name))?.name ?? [])
    return fields.length === key.fields.length ? [{ ...key, fields }] : []
  })

type Served = Pick<RegisteredTable, 'structure' | 'isOutdated'>

/** Returns the facts with the key that was chosen for an SQL view. null: the table has become a view, or the reverse. */
const factsOf = (stored: Structure, { viewKey }: Choices): Structure | null => {
  if (stored.isView !== (viewKey !== undefined)) return null
  return viewKey ? withViewKey(stored, viewKey) : stored
}

/**
 * The structure under which a table is served. `stored`: what SQLite reports, null where it has no such table. Columns
 * that are not registered are left out.
 */
export const combine = (stored: Structure | null, choices: Choices): Served => {
  const facts = stored && factsOf(stored, choices)
  if (!facts) return { structure: missingStructure(choices), isOutdated: true }
  const storedColumns = new Map(facts.columns.map((column) => [foldName(column.name), column]))
  const columns = choices.fields.map((field) => {
    const column = storedColumns.get(foldName(field.name))
    return column ? withChoices(column, field) : missingColumn(field)
  })
  const registered = new Map(columns.map((column) => [foldName(column.name), column]))
  const keyColumns = facts.key.map((name) => registered.get(foldName(name)))
  // A hidden column that became the key would be visible to tokens.
  const hasUnusableKey = keyColumns.some((column) => column === undefined || column.isHidden)
  // SQLite takes the name of a missing column for the rowid, if it is one of the rowid's names.
  const missesRowidName = columns.some(({ name }) => isRowidName(name) && !storedColumns.has(foldName(name)))
  const isOutdated = hasUnusableKey || missesRowidName
  const key = facts.key.map((name, index) => keyColumns[index]?.name ?? name)
  const rowid = facts.isRowidKey ? (key[0] as string) : facts.rowid
  const foreignKeys = servedForeignKeys(facts, registered)
  const { autoTimestamps } = choices
  return { structure: { ...facts, columns, key, rowid, foreignKeys, autoTimestamps }, isOutdated }
}

/** Returns the facts of a view with the key that was chosen for it. It has none if one of the columns is gone. */
export const keepKey = (facts: Structure, { viewKey }: Choices): Structure => {
  if (!viewKey) return facts
  const has = (name: string) => facts.columns.some((column) => foldName(column.name) === foldName(name))
  return withViewKey(facts, viewKey.every(has) ? viewKey : [])
}

/** The structure without the facts that the records of the table do not depend on. */
const recordFacts = ({ columns, foreignKeys: _, sources: __, ...structure }: Structure) => ({
  ...structure,
  columns: columns.map(({ isIndexed: _, isUnique: __, ...column }) => column)
})

/** Whether both structures have the same records: they differ at most in indexes and foreign keys. */
export const haveSameRecords = (one: Structure, other: Structure) =>
  isDeepStrictEqual(recordFacts(one), recordFacts(other))

/** The facts about a table once it has the column. A column named `rowid` hides the rowid of that name. */
export const withColumn = (facts: Structure, column: Column): Structure => {
  if (facts.columns.some(({ name }) => foldName(name) === foldName(column.name))) return facts
  const columns = [...facts.columns, column]
  const keepsRowid = facts.isRowidKey || facts.rowid === null
  return { ...facts, columns, rowid: keepsRowid ? facts.rowid : visibleRowidName(columns) }
}

/** Renames a table in what an SQL view reads. */
export const renameInSources = (structure: Structure, from: string, to: string): Structure => {
  const { sources } = structure
  if (!sources) return structure
  const renamed = (table: string) => (table === foldName(from) ? foldName(to) : table)
  const origins = sources.origins.map(({ name, origin }) => ({
    name,
    origin: origin && { ...origin, table: renamed(origin.table) }
  }))
  return { ...structure, sources: { reads: sources.reads.map(renamed), origins } }
}
