import type { FieldChanges } from '../../schemas/table.ts'
import { fits } from '../model/column-types.ts'
import { excerpt, invalid } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import { type Column, isFilledIn, type Structure, TIMESTAMPS } from '../model/table.ts'
import { defaultAs, reachableRowid } from '../sql/introspection.ts'

/** Flags and labels survive a fresh look at what is stored; a name that changed its case only is the same to SQLite. */
export const keepChoices = (fresh: Structure, before: Structure): Structure => {
  const known = new Map(before.columns.map((column) => [foldName(column.name), column]))
  const columns = fresh.columns.map((column): Column => {
    const old = known.get(foldName(column.name))
    if (!old) return column
    const jsonType = fits(old.jsonType, column.sqliteType) ? old.jsonType : column.jsonType
    return {
      ...column,
      label: old.label,
      isHidden: old.isHidden && !column.isPrimary,
      isReadonly: old.isReadonly || column.isGenerated,
      jsonType,
      defaultValue: defaultAs(column.defaultValue, jsonType),
      nullable: column.isPrimary ? old.nullable : column.nullable
    }
  })
  const has = (name: string) => columns.some((column) => column.name === name)
  return { ...fresh, columns, autoTimestamps: before.autoTimestamps && TIMESTAMPS.every(has) }
}

/** A column named `rowid` hides the rowid that went by this name before. */
export const withColumn = (structure: Structure, column: Column): Structure => {
  const columns = [...structure.columns, column]
  const keepsRowid = structure.isRowidKey || structure.rowid === null
  return { ...structure, columns, rowid: keepsRowid ? structure.rowid : reachableRowid(columns) }
}

/** Labels and flags of columns, as an administrator wants them. @throws VALIDATION_FAILED */
export const changeColumns = (structure: Structure, changes: readonly FieldChanges[]): readonly Column[] => {
  const { columns } = structure
  const byName = new Map(columns.map((column) => [column.name, column]))
  for (const [index, { name, ...change }] of changes.entries()) {
    const column = byName.get(name)
    if (!column)
      throw invalid([
        { path: `/fields/${index}/name`, code: 'unknown', message: `'${excerpt(name)}' is no field of this table.` }
      ])
    if (column.isPrimary && change.isHidden) {
      throw invalid([
        { path: `/fields/${index}/isHidden`, code: 'key', message: `'${name}' is the key and cannot be hidden.` }
      ])
    }
    byName.set(name, {
      ...column,
      ...change,
      isReadonly: isFilledIn(structure, column) || (change.isReadonly ?? column.isReadonly)
    })
  }
  return [...byName.values()]
}
