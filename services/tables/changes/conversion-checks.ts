import type { Database } from '../../engine/database.ts'
import { foldName } from '../../model/names.ts'
import type { Row } from '../../model/sql-value.ts'
import type { Column, RegisteredTable } from '../../model/table.ts'
import { selectDependents } from '../../sql/alter.ts'
import { checksIn, namesIn, ruleOfIndex } from '../../sql/declared-rules.ts'
import { selectIndexes, toIndexes } from '../../sql/indexes.ts'
import { generatedFrom } from '../../sql/rebuild.ts'
import { structureInUse } from '../failures.ts'
import { isOwn } from '../names/reserved-names.ts'
import { fieldsReferringToColumn } from './referring-fields.ts'

const HINT = 'Drop it first, with the program that created it. Create it again after the change.'

const declarationOf = ({ sql }: Row) => String(sql)

/** Returns the names of the table and of all views that read it, also through other views. */
const readersOf = (table: string, dependents: readonly Row[]): ReadonlySet<string> => {
  const names = new Set([foldName(table)])
  const views = dependents.filter(({ type }) => type === 'view')
  for (let size = 0; size < names.size; ) {
    size = names.size
    for (const view of views)
      if ([...namesIn(declarationOf(view))].some((name) => names.has(name))) names.add(foldName(String(view.name)))
  }
  return names
}

/**
 * Creates the check that no other declaration of the file depends on the stored type of a column. It compares names:
 * with the new type, `v > 5` has other results, and SQLite reports no error.
 */
export const createConversionCheck = (db: Database) => {
  const indexNeeding = async (table: string, column: Column, declarations: readonly Row[]) => {
    const special = toIndexes((await db.read(selectIndexes(table)))[0])
      .filter(({ isPartial, columns }) => isPartial || columns.includes(null))
      .map(({ name }) => name)
    const rules = declarations.filter(({ type }) => type === 'index').map((row) => [row.name, declarationOf(row)])
    return rules
      .map(([name, sql]) => ruleOfIndex(String(name), String(sql)))
      .find(({ label, names }) => special.includes(label) && names.has(foldName(column.name)))?.label
  }

  /** Returns a trigger or a view that names the column, and the table or a view that reads it. */
  const dependentNeeding = async (table: string, column: Column, declarations: readonly Row[]) => {
    const triggers = declarations.filter(({ type }) => type === 'trigger')
    const dependents = [...triggers, ...(await db.read(selectDependents(table)))]
    const readers = readersOf(table, dependents)
    return dependents.find((row) => {
      const names = namesIn(declarationOf(row))
      return (
        !isOwn(String(row.name)) && names.has(foldName(column.name)) && [...names].some((name) => readers.has(name))
      )
    })
  }

  const checkKeys = async ({ name, structure }: RegisteredTable, column: Column) => {
    if (structure.foreignKeys.some(({ fields }) => fields.includes(column.name))) {
      throw structureInUse(`'${column.name}' is part of a foreign key, so its stored type cannot change.`)
    }
    const referring = await fieldsReferringToColumn(db, name, column)
    if (referring) throw structureInUse(`${referring} refers to '${column.name}', so its stored type cannot change.`)
  }

  /**
   * `declarations`: of the table, its indexes and its triggers.
   * @throws STRUCTURE_IN_USE
   */
  return async (table: RegisteredTable, column: Column, declarations: readonly Row[]) => {
    const refuse = (user: string) => structureInUse(`${user} names '${column.name}', so its type cannot change.`, HINT)
    await checkKeys(table, column)
    const declaration = declarations.filter(({ type }) => type === 'table').map(declarationOf)[0] as string
    const check = checksIn(declaration).find(({ names }) => names.has(foldName(column.name)))
    if (check) throw refuse(`The CHECK '${check.label}'`)
    const generated = generatedFrom(declaration, column.name)
    if (generated !== undefined) throw refuse(`The generated column '${generated}'`)
    const index = await indexNeeding(table.name, column, declarations)
    if (index !== undefined) throw refuse(`The index '${index}'`)
    const dependent = await dependentNeeding(table.name, column, declarations)
    if (dependent) throw refuse(`The ${dependent.type} '${dependent.name}'`)
  }
}
