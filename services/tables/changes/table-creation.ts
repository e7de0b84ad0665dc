import type { NewTable } from '../../../schemas/new-table.ts'
import { auditRow } from '../../audit/audit-row.ts'
import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { compileForeignKeys, createTableSql } from '../../sql/ddl.ts'
import { createIndex } from '../../sql/indexes.ts'
import type { Statement, Unit } from '../../sql/statement.ts'
import { hiddenIn } from '../audited-table.ts'
import { nameTaken } from '../failures.ts'
import { assertPathFree } from '../names/path-names.ts'
import { checkNewName } from '../names/reserved-names.ts'
import { declaredChoices } from '../registry/choices.ts'
import type { Register } from '../registry/registration.ts'
import type { TableRegistry } from '../registry/registry.ts'
import { selectNamed } from '../registry/table-statements.ts'
import { freeIndexName } from './index-names.ts'
import { declareStructure, type NewStructure } from './new-table.ts'
import { NOTHING_REFERABLE, type Referable, referenceFinder } from './references.ts'

interface TableCreationOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly clock: Clock
  readonly register: Register
}

interface CreationOptions {
  /** Whether the caller may declare a foreign key to a field. */
  readonly isReferable?: Referable
  readonly isPublished?: boolean
}

/** Creates the functions that declare a new table, and that create it in the file and register it. */
export const createTableCreation = ({ db, registry, clock, register }: TableCreationOptions) => {
  /** Returns the statements that create the table with its indexes. */
  const createStored = async (name: string, declared: NewStructure, isReferable: Referable): Promise<Unit> => {
    const { structure, declarations, indexes, references } = declared
    const findTarget = referenceFinder(registry.find, isReferable, { name, columns: structure.columns })
    const targets = new Map(references.map((sent) => [sent.column, findTarget(sent)]))
    const columns = declarations.map((declaration) => ({ ...declaration, references: targets.get(declaration.column) }))
    const created: Statement[] = [{ sql: createTableSql(name, columns, structure.key), params: [] }]
    for (const index of indexes) created.push(createIndex(await freeIndexName(db, name, index), name, index))
    const [first] = references
    return first ? [...created, compileForeignKeys(name, first.column.name)] : created
  }

  /** Returns the structure of a new table, whose name is free. @throws TABLE_EXISTS, VALIDATION_FAILED */
  const declare = async (table: NewTable): Promise<NewStructure> => {
    checkNewName(table.name)
    const declared = declareStructure(table)
    const [existing] = await db.read(selectNamed(table.name))
    if (existing) throw nameTaken(String(existing.name), String(existing.type))
    assertPathFree(registry.findByPath, table.name)
    return declared
  }

  /**
   * Checks the caller's right again after the name was looked up.
   * @throws TABLE_EXISTS, TABLE_REGISTERED, VALIDATION_FAILED, STRUCTURE_CHANGED
   */
  const create = async (caller: Caller, table: NewTable, options: CreationOptions = {}): Promise<RegisteredTable> => {
    const { isReferable = NOTHING_REFERABLE, isPublished = true } = options
    const { name, label = name, note = null } = table
    const declared = await declare(table)
    const { structure } = declared
    await caller.confirm()
    const stored = await createStored(name, declared, isReferable)
    const flags = { isPublished, isEditable: true }
    const choices = await declaredChoices(structure)
    const now = clock()
    const { columns } = structure
    const summary = { ...flags, fields: columns.map((column) => column.name), hidden: hiddenIn(columns) }
    const audit = [auditRow(caller, now, { action: 'table.create', target: name, summary })]
    const unnamed = { name, structure, label, note, ...flags, choices }
    const registered = await register([unnamed], { now, before: stored, audit })
    const [created] = registered as [RegisteredTable]
    if (declared.references.length === 0) return created
    // The foreign keys are facts of the table, and their actions are effects of writes to other tables.
    await registry.reload()
    return registry.get(created.id)
  }

  return { declare, create }
}
