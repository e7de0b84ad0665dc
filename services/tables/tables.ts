import type { NewField, NewTable, TableChanges } from '../../schemas/table.ts'
import { type Database, UnexpectedChanges } from '../engine/database.ts'
import { RESERVED_PREFIX } from '../engine/writer/migrations.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError, hasCode, invalid, tableNotFound } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { RegisteredTable } from '../model/table.ts'
import { addColumnSql, createTableSql } from '../sql/ddl.ts'
import { describeColumns, describeKeyIndex, describeTable, toStructure } from '../sql/introspection.ts'
import { countRows } from '../sql/lists.ts'
import type { Unit } from '../sql/statement.ts'
import { checkDefaults, declareField, declareStructure } from './new-table.ts'
import { type TableRegistry, toRegisteredTable } from './registry.ts'
import { changeColumns, keepChoices, withColumn } from './structure-changes.ts'
import { deleteTable, insertTable, selectNamed, updateMetadata, updateStructure } from './table-statements.ts'
import { openToTokens } from './token-access.ts'

interface TableServiceOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly clock: Clock
}

/** Names that no table may be served under: our own tables, SQLite's, and the words that routes use. */
const isReserved = (name: string) => {
  const folded = foldName(name)
  return [RESERVED_PREFIX, 'sqlite_'].some((prefix) => folded.startsWith(prefix)) || ['_schema', '_me'].includes(folded)
}

/** SQLite's own; its ALTER TABLE, too, looks for pragma functions by names that a table would hide. */
const RESERVED_NEW = /^(?:sqlite_|pragma_)/i
/** Room for what a record's JSON and SQLite itself take (2,000 columns). */
const MOST_FIELDS = 1000
const MOST_TRIES = 5

const notImportable = (message: string) => new DomainError('TABLE_NOT_IMPORTABLE', message)

/** What `pragma table_list` calls things that hold no rows of their own. */
const OTHER_KINDS: Record<string, string> = {
  view: 'a view',
  virtual: 'a virtual table',
  shadow: 'a part of a virtual table'
}

const TAKEN_HINT: Record<string, string> = {
  table: 'To serve a table that is there and not yet registered, import it: POST /admin/tables/import.'
}

const registered = (name: string) =>
  new DomainError('TABLE_REGISTERED', `'${name}' is registered already.`, {
    hint: 'GET /admin/tables lists it. Should its stored table be gone, unregister it first.'
  })

const taken = (name: string, type: string) =>
  new DomainError('TABLE_EXISTS', `The database has a ${type} '${name}' already.`, {
    hint: TAKEN_HINT[type] ?? 'Choose another name.'
  })

/** Registration, metadata and structure of tables. Their records are the record service's. */
export const createTableService = ({ db, registry, clock }: TableServiceOptions) => {
  const apply = (row: Row | undefined) => registry.apply(toRegisteredTable(row as Row))

  const describe = async (name: string) => {
    const [[table], columns, keyIndex] = await Promise.all([
      db.read(describeTable(name)),
      db.read(describeColumns(name)),
      db.read(describeKeyIndex(name))
    ])
    return table && { table, columns, keyIndex }
  }

  /**
   * Runs a change against the table as it is now, and again when somebody else's change came in between, if the caller
   * still may.
   */
  const change = async (caller: Caller, id: number, unit: (table: RegisteredTable) => Promise<Unit>) => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const statements = await unit(registry.get(id))
      try {
        const results = await db.write(statements)
        return apply(results.at(-1)?.rows[0])
      } catch (error) {
        if (!(error instanceof UnexpectedChanges)) throw error
        await registry.load()
        await caller.confirm()
      }
    }
    throw new DomainError('TABLE_CHANGED', 'The table keeps being changed by others. Try again.')
  }

  /** The registry's own index decides between two who register the same name at once. */
  const register = async (name: string, unit: Unit) => {
    const results = await db.write(unit).catch((error) => {
      throw hasCode(error, 'UNIQUE_VIOLATION') ? registered(name) : error
    })
    return apply(results.at(-1)?.rows[0])
  }

  /**
   * Asks for the right again where it may have been lost while the name was looked up.
   * @throws TABLE_EXISTS, TABLE_REGISTERED, VALIDATION_FAILED
   */
  const create = async (caller: Caller, table: NewTable): Promise<RegisteredTable> => {
    const { name, label, note = null } = table
    if (RESERVED_NEW.test(name)) {
      throw invalid([
        { path: '/name', code: 'format', message: `'${name}' begins with sqlite_ or pragma_, which are SQLite's own.` }
      ])
    }
    const { structure, defaults } = declareStructure(table)
    const [existing] = await db.read(selectNamed(name))
    if (existing) throw taken(String(existing.name), String(existing.type))
    await caller.confirm()
    return register(name, [
      { sql: createTableSql(name, structure, defaults), params: [] },
      insertTable({ name, label, note, structure }, clock())
    ])
  }

  const readStructure = async (name: string) => {
    const description = await describe(name)
    if (!description) return null
    const { table } = description
    if (table.type !== 'table')
      throw notImportable(`'${table.name}' is ${OTHER_KINDS[String(table.type)]}; only ordinary tables can be served.`)
    const structure = toStructure(description)
    if (!structure) throw notImportable(`'${table.name}' has no primary key, and columns hide every name of its rowid.`)
    return { name: String(table.name), structure }
  }

  /**
   * Registers a table that the database has already. @throws TABLE_NOT_FOUND, TABLE_REGISTERED, TABLE_NOT_IMPORTABLE
   */
  const importTable = async (caller: Caller, name: string): Promise<RegisteredTable> => {
    if (isReserved(name)) throw notImportable(`'${name}' is a reserved name.`)
    if (registry.find(name)) throw registered(name)
    const found = await readStructure(name)
    if (!found) throw tableNotFound(name)
    await caller.confirm()
    return register(found.name, [insertTable({ ...found, label: '', note: null }, clock())])
  }

  /** @throws TABLE_NOT_FOUND, VALIDATION_FAILED */
  const update = (caller: Caller, id: number, changes: TableChanges): Promise<RegisteredTable> =>
    change(caller, id, async (table) => {
      const { fields = [], ...metadata } = changes
      const columns = changeColumns(table.structure, fields)
      const changed = { ...table, ...metadata, structure: { ...table.structure, columns } }
      return [updateMetadata(table, changed, clock())]
    })

  /** Reads the structure again. @throws TABLE_NOT_FOUND, STRUCTURE_CHANGED when the stored table is gone */
  const refresh = (caller: Caller, id: number): Promise<RegisteredTable> =>
    change(caller, id, async (table) => {
      const found = await readStructure(table.name)
      if (!found) {
        throw new DomainError('STRUCTURE_CHANGED', `The stored table '${table.name}' is gone.`, {
          hint: 'Unregister it: DELETE /admin/tables/:id?confirm=true.'
        })
      }
      return [updateStructure(table, keepChoices(found.structure, table.structure), clock())]
    })

  /** A token needs a published and editable table. @throws TABLE_NOT_FOUND, TABLE_READ_ONLY, FIELD_EXISTS, VALIDATION_FAILED */
  const addField = (caller: Caller, id: number, field: NewField): Promise<RegisteredTable> =>
    change(caller, id, async (table) => {
      const { column, defaultValue } = declareField(field)
      if (caller.kind === 'token') openToTokens(table, table.name, true)
      const { columns } = table.structure
      if (columns.some(({ name }) => foldName(name) === foldName(column.name))) {
        throw new DomainError('FIELD_EXISTS', `The table has a field '${column.name}' already.`)
      }
      if (columns.length >= MOST_FIELDS) {
        throw invalid([{ path: '/field', code: 'range', message: `A table takes ${MOST_FIELDS} fields at most.` }])
      }
      checkDefaults(columns, [column], () => '/field')
      return [
        { sql: addColumnSql(table.name, column, defaultValue), params: [] },
        updateStructure(table, withColumn(table.structure, column), clock())
      ]
    })

  /** A table that another program has dropped or changed cannot be counted, and can be unregistered all the same. */
  const describeRows = (caller: Caller, table: RegisteredTable) =>
    db.scan(countRows({ table, filter: null }), caller).then(
      ([row]) => ({ says: `has ${row?.total} rows. They stay`, afterwards: 'It can be imported again.' }),
      (error) => {
        if (hasCode(error, 'AUTHENTICATION_REQUIRED')) throw error
        return {
          says: 'cannot be counted. What it holds stays',
          afterwards: 'Where it is still there, it can be imported again.'
        }
      }
    )

  /** Forgets the table; what is stored stays. @throws TABLE_NOT_FOUND, CONFIRMATION_REQUIRED */
  const unregister = async (caller: Caller, id: number, isConfirmed: boolean): Promise<void> => {
    const table = registry.get(id)
    if (!isConfirmed) {
      const { says, afterwards } = await describeRows(caller, table)
      throw new DomainError(
        'CONFIRMATION_REQUIRED',
        `'${table.name}' ${says} in the database, but can no longer be reached.`,
        { hint: `To unregister the table, repeat the call with ?confirm=true. ${afterwards}` }
      )
    }
    const [deleted] = await db.write([deleteTable(id)])
    registry.forget(table)
    if (deleted?.changes === 0) throw tableNotFound(id)
  }

  return {
    create,
    importTable,
    update,
    refresh,
    addField,
    unregister,
    get: registry.get,
    find: registry.find,
    all: registry.all
  }
}

export type TableService = ReturnType<typeof createTableService>
