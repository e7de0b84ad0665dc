import type { Database } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import { foldName } from '../model/names.ts'
import type { Column, RegisteredTable } from '../model/table.ts'
import { expectSchemaVersion, selectSchemaVersion } from '../sql/alter.ts'
import { checksIn } from '../sql/declared-rules.ts'
import { selectDeclarations } from '../sql/introspection.ts'
import { declaresAutoIncrement } from '../sql/lexer.ts'
import { countViolations, expectViolations, rebuildTable, redefined } from '../sql/rebuild.ts'
import type { Unit } from '../sql/statement.ts'
import { storedFieldGone, structureInUse } from './failures.ts'
import type { FieldChange } from './field-changes.ts'
import { fieldsReferringToColumn } from './referring-fields.ts'
import { createRewriteLimit } from './rewrite-limit.ts'
import { createStoredTables } from './stored-tables.ts'

/** Creates the function that rebuilds a table: docs/decisions/0031-schema-changes.md */
export const createRebuilds = (db: Database) => {
  const { read: readStored } = createStoredTables(db)
  const checkSize = createRewriteLimit(db)

  /** @throws STRUCTURE_IN_USE if the conversion of a column would change the meaning of another declaration */
  const checkConversion = async ({ name, structure }: RegisteredTable, column: Column, declaration: string) => {
    if (structure.foreignKeys.some(({ fields }) => fields.includes(column.name))) {
      throw structureInUse(`'${column.name}' is part of a foreign key, so its stored type cannot change.`)
    }
    const referring = await fieldsReferringToColumn(db, name, column)
    if (referring) throw structureInUse(`${referring} refers to '${column.name}', so its stored type cannot change.`)
    const check = checksIn(declaration).find(({ names }) => names.has(foldName(column.name)))
    if (check) throw structureInUse(`The CHECK '${check.label}' names '${column.name}', so its type cannot change.`)
  }

  /**
   * Returns the unit that creates the table again with another type or default of a column.
   * @throws STRUCTURE_CHANGED, STRUCTURE_IN_USE, TABLE_TOO_LARGE
   */
  const rebuild = async (caller: Caller, table: RegisteredTable, change: FieldChange): Promise<Unit> => {
    const { name } = table
    const { column, storedType: type, defaultValue } = change
    const [version] = await db.read(selectSchemaVersion)
    const stored = await readStored(caller, name)
    const declarations = await db.read(selectDeclarations(name))
    const declaration = String(declarations.find((row) => row.type === 'table')?.sql)
    const definition = redefined(declaration, column.name, { type, defaultValue })
    if (!stored || definition === null) throw storedFieldGone(name, column.name)
    if (type) await checkConversion(table, column, declaration)
    const { columns, rowid } = stored.structure
    const copied = columns.filter(({ isGenerated }) => !isGenerated).map((other) => other.name)
    await checkSize(caller, table, copied)
    const [checked] = await db.scan(countViolations([name]), caller)
    const unit = rebuildTable(
      {
        name,
        declaration: definition,
        columns: rowid === null || copied.includes(rowid) ? copied : [rowid, ...copied],
        conversion: type ? { column: column.name, type } : undefined,
        isAutoIncrement: declaresAutoIncrement(declaration),
        dependents: declarations.filter((row) => row.type !== 'table').map(({ sql }) => String(sql))
      },
      [expectSchemaVersion(Number(version?.schema_version))]
    )
    return [...unit, expectViolations([name], Number(checked?.violations))]
  }

  return rebuild
}
