import { suggestName } from '../../../schemas/similar-names.ts'
import type { NewTableIndex, TableIndex } from '../../../schemas/table-index.ts'
import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import { DomainError, excerpt, hasCode, invalid } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import type { Row } from '../../model/sql-value.ts'
import type { RegisteredTable } from '../../model/table.ts'
import {
  createIndex as createStoredIndex,
  dropIndex as dropStoredIndex,
  findDuplicates,
  type StoredIndex,
  selectIndexes,
  toIndexes
} from '../../sql/indexes.ts'
import { isRowidName } from '../../sql/introspection.ts'
import { assertTable } from '../assert-table.ts'
import { tableEntry } from '../audited-table.ts'
import { tableOutdated } from '../failures.ts'
import { isOwn } from '../names/reserved-names.ts'
import type { TableRegistry } from '../registry/registry.ts'
import { type DeclaredIndex, freeIndexName } from './index-names.ts'
import type { CommitChange, CommitTried } from './trials.ts'

const toTableIndex = ({ name, columns, isUnique, isPartial }: StoredIndex): TableIndex => {
  const fields = columns.filter((column) => column !== null)
  return { name, fields, isUnique, isPartial, hasExpressions: fields.length < columns.length, isOurs: isOwn(name) }
}

const indexExists = (name: string) =>
  new DomainError('INDEX_EXISTS', `The index '${name}' has the same fields.`, {
    hint: 'GET /admin/tables/:id/indexes lists the indexes of the table.'
  })

const indexNotFound = (name: string) =>
  new DomainError('INDEX_NOT_FOUND', `The table has no index '${excerpt(name)}'.`, {
    hint: 'GET /admin/tables/:id/indexes lists the indexes of the table.'
  })

const indexNotOurs = (name: string) =>
  new DomainError('INDEX_NOT_OURS', `The index '${excerpt(name)}' was not created through the API.`, {
    hint: 'Use the program that created it to drop it.'
  })

/** @throws VALIDATION_FAILED */
const checkFields = ({ structure }: RegisteredTable, fields: readonly string[]) => {
  const names = structure.columns.map(({ name }) => name)
  for (const [index, name] of fields.entries()) {
    const path = `/fields/${index}`
    if (!names.includes(name)) {
      const message = `'${excerpt(name)}' is not a field of this table.`
      throw invalid([{ path, code: 'unknown', message }], suggestName(name, names))
    }
    if (fields.indexOf(name) < index) throw invalid([{ path, code: 'unique', message: `'${name}' is listed twice.` }])
    if (structure.isRowidKey && isRowidName(name)) {
      throw invalid([{ path, code: 'key', message: `'${name}' is the rowid, which SQLite cannot have in an index.` }])
    }
  }
}

/** An index of another program with other collations or directions serves other requests. */
const covers = (index: StoredIndex, { fields, isUnique }: DeclaredIndex) =>
  (index.isPlain || isOwn(index.name)) &&
  !index.isPartial &&
  (index.isUnique || !isUnique) &&
  index.columns.length === fields.length &&
  fields.every((name, position) => foldName(name) === foldName(index.columns[position] ?? ''))

interface IndexServiceOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly commit: CommitChange
  readonly commitTried: CommitTried
}

/** The indexes of registered tables, for administrators. */
export const createIndexes = ({ db, registry, commit, commitTried }: IndexServiceOptions) => {
  const readStored = async ({ name, structure }: RegisteredTable) =>
    structure.isView ? [] : toIndexes((await db.read(selectIndexes(name)))[0])

  /** Finds out after the failure which records are the same. A scan that fails shows no example. */
  const describeDuplicates = async (
    caller: Caller,
    { name, structure }: RegisteredTable,
    fields: readonly string[]
  ) => {
    const statement = findDuplicates(name, fields, structure.rowid, db.dialect)
    const [row] = await db.scan(statement, caller).catch((error: unknown): readonly Row[] => {
      if (error instanceof DomainError) return []
      throw error
    })
    if (!row) return []
    const values = fields.map((field, index) => `'${field}' = ${row[`v${index}`]}`).join(', ')
    return [{ path: '/fields', code: 'unique', message: `${row.count} records have ${values}.` }]
  }

  const notUnique = async (caller: Caller, table: RegisteredTable, fields: readonly string[]) => {
    const names = fields.map((name) => `'${name}'`).join(', ')
    return new DomainError('UNIQUE_VIOLATION', `Records of the table have the same values in ${names}.`, {
      details: await describeDuplicates(caller, table, fields),
      hint: 'Change or delete these records, or create the index without `isUnique`.'
    })
  }

  /** @throws TABLE_NOT_FOUND, TABLE_UNUSABLE */
  const listIndexes = async (id: number): Promise<TableIndex[]> =>
    (await readStored(registry.get(id))).map(toTableIndex)

  /**
   * Creates an index. Other writes wait for it; reads do not.
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_READ_ONLY, STRUCTURE_CHANGED, VALIDATION_FAILED, INDEX_EXISTS, UNIQUE_VIOLATION
   */
  const createIndex = async (caller: Caller, id: number, sent: NewTableIndex): Promise<TableIndex> => {
    const table = registry.get(id)
    assertTable(table)
    if (table.isOutdated) throw tableOutdated(table.name)
    const index = { isUnique: false, ...sent }
    const { fields, isUnique } = index
    checkFields(table, fields)
    const existing = (await readStored(table)).find((stored) => covers(stored, index))
    if (existing) throw indexExists(existing.name)
    const name = await freeIndexName(db, table.name, index)
    await caller.confirm()
    try {
      const entries = [tableEntry(table, 'index.create', { index: name, fields, isUnique })]
      await commit(caller, { unit: [createStoredIndex(name, table.name, index)], entries })
    } catch (error) {
      if (hasCode(error, 'TABLE_EXISTS')) throw indexExists(name)
      throw hasCode(error, 'UNIQUE_VIOLATION') ? await notUnique(caller, table, fields) : error
    }
    // The table is replaced, and with it the plans that are cached for it.
    await registry.reload()
    return { name, fields, isUnique, isPartial: false, hasExpressions: false, isOurs: true }
  }

  /** @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, INDEX_NOT_FOUND, INDEX_NOT_OURS, STRUCTURE_IN_USE, TABLE_CHANGED */
  const dropIndex = async (caller: Caller, id: number, sentName: string): Promise<void> => {
    const table = registry.get(id)
    const indexes = await readStored(table)
    const index = indexes.find(({ name }) => foldName(name) === foldName(sentName))
    if (!index) throw indexNotFound(sentName)
    if (!isOwn(index.name)) throw indexNotOurs(index.name)
    const entries = [tableEntry(table, 'index.drop', { index: index.name })]
    await commitTried(caller, { unit: [dropStoredIndex(index.name)], entries })
    await registry.reload()
  }

  return { listIndexes, createIndex, dropIndex }
}
