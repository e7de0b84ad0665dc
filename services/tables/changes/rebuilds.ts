import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { expectDeclarations, selectAllDeclarations } from '../../sql/alter.ts'
import { selectDeclarations } from '../../sql/introspection.ts'
import { declaresAutoIncrement } from '../../sql/lexer.ts'
import { countViolations, expectViolations, rebuildTable, redefined } from '../../sql/rebuild.ts'
import type { Unit } from '../../sql/statement.ts'
import { storedFieldGone } from '../failures.ts'
import { createStoredTables } from '../registry/stored-tables.ts'
import { createConversionCheck } from './conversion-checks.ts'
import type { FieldChange } from './field-changes.ts'
import { createRewriteLimit } from './rewrite-limit.ts'

/** Creates the function that rebuilds a table: docs/decisions/0031-schema-changes.md */
export const createRebuilds = (db: Database) => {
  const { read: readStored } = createStoredTables(db)
  const checkSize = createRewriteLimit(db)
  const checkConversion = createConversionCheck(db)

  /**
   * Returns the unit that creates the table again with another type or default of a column. It runs without foreign keys.
   * @throws STRUCTURE_CHANGED, STRUCTURE_IN_USE, TABLE_TOO_LARGE
   */
  const rebuild = async (caller: Caller, table: RegisteredTable, change: FieldChange): Promise<Unit> => {
    const { name } = table
    const { column, storedType: type, defaultValue } = change
    const all = await db.readText(selectAllDeclarations)
    const stored = await readStored(caller, name)
    const declarations = await db.read(selectDeclarations(name))
    const declaration = String(declarations.find((row) => row.type === 'table')?.sql)
    const definition = redefined(declaration, column.name, { type, defaultValue })
    if (!stored || definition === null) throw storedFieldGone(name, column.name)
    if (type) await checkConversion(table, column, declarations)
    const { columns, rowid } = stored.structure
    const copied = columns.filter(({ isGenerated }) => !isGenerated).map((other) => other.name)
    await checkSize(caller, table, copied)
    const [checked] = await db.scan(countViolations([name]), caller)
    const unit = rebuildTable({
      name,
      declaration: definition,
      columns: rowid === null || copied.includes(rowid) ? copied : [rowid, ...copied],
      conversion: type ? { column: column.name, type } : undefined,
      isAutoIncrement: declaresAutoIncrement(declaration),
      dependents: declarations.filter((row) => row.type !== 'table').map(({ sql }) => String(sql))
    })
    return [expectDeclarations(String(all)), ...unit, expectViolations([name], Number(checked?.violations))]
  }

  return rebuild
}
