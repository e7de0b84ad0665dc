import type { NewField, NewTable } from '../../schemas/table.ts'
import { invalid } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { SqlValue } from '../model/sql-value.ts'
import { type Column, type Structure, TIMESTAMPS } from '../model/table.ts'
import { reachableRowid } from '../sql/introspection.ts'
import { checkDefaults, checkField, storedDefault, toColumn } from './field-rules.ts'

const timestampField = (name: string): NewField => ({ name, jsonType: 'integer', isReadonly: true })

/** `timestamps`: the fields that `autoTimestamps` adds. @throws VALIDATION_FAILED for a name that is used twice */
const checkNames = (fields: readonly NewField[], timestamps: readonly NewField[]) => {
  const reserved = new Set(timestamps.map(({ name }) => name))
  const seen = new Set<string>()
  for (const [index, { name }] of fields.entries()) {
    const folded = foldName(name)
    if (seen.has(folded) || reserved.has(folded)) {
      const reason = reserved.has(folded) ? 'is added by autoTimestamps' : 'is declared twice'
      throw invalid([{ path: `/fields/${index}/name`, code: 'unique', message: `The field '${name}' ${reason}.` }])
    }
    seen.add(folded)
  }
}

/** Without a declared key, an integer `id` becomes the key. A table without `id` gets one as its first field. */
const withKey = (fields: readonly NewField[]): readonly NewField[] => {
  const keys = fields.filter(({ isPrimary }) => isPrimary)
  if (keys.length > 1)
    throw invalid([{ path: '/fields', code: 'key', message: 'A table can have only one primary field.' }])
  if (keys.length === 1) return fields
  const index = fields.findIndex(({ name }) => foldName(name) === 'id')
  const id = fields[index]
  if (!id) return [{ name: 'id', jsonType: 'integer', isPrimary: true, isAutoIncrement: true }, ...fields]
  if (id.jsonType === 'integer') return fields.with(index, { ...id, isPrimary: true, isAutoIncrement: true })
  const message = `'${id.name}' cannot become the key of the table: it is not an integer.`
  throw invalid([{ path: `/fields/${index}`, code: 'key', message }], 'Mark a primary field, or rename this one.')
}

interface NewStructure {
  readonly structure: Structure
  /** The stored default of each column. */
  readonly defaults: readonly SqlValue[]
}

/** Returns the structure of a declared table. @throws VALIDATION_FAILED */
export const declareStructure = ({ fields, autoTimestamps = false }: NewTable): NewStructure => {
  const timestamps = autoTimestamps ? TIMESTAMPS.map(timestampField) : []
  const sent = [...fields, ...timestamps]
  const declared = withKey(sent)
  checkNames(fields, timestamps)
  // An added key is the first field, and is not part of the request.
  const added = declared.length - sent.length
  const pathOf = (index: number) => `/fields/${index - added}`
  for (const [index, field] of declared.entries()) checkField(field, pathOf(index))
  const columns = declared.map(toColumn)
  checkDefaults([], columns, pathOf)
  const key = columns.find((column) => column.isPrimary) as Column
  const isRowidKey = key.sqliteType === 'INTEGER'
  const rowid = isRowidKey ? key.name : reachableRowid(columns)
  const structure = {
    columns,
    isView: false,
    hasCollatedKey: false,
    isStrict: true,
    key: [key.name],
    isRowidKey,
    rowid,
    foreignKeys: [],
    autoTimestamps
  }
  return { structure, defaults: columns.map(storedDefault) }
}

/** Returns a column for a table that may have rows. Whether its name is free is not checked. @throws VALIDATION_FAILED */
export const declareField = (field: NewField): { column: Column; defaultValue: SqlValue } => {
  if (field.isPrimary || field.isAutoIncrement) {
    const path = field.isPrimary ? '/field/isPrimary' : '/field/isAutoIncrement'
    throw invalid([{ path, code: 'key', message: 'The key of an existing table cannot change.' }])
  }
  checkField(field, '/field')
  const column = toColumn(field)
  if (column.nullable || column.defaultValue !== null) return { column, defaultValue: storedDefault(column) }
  const message = `'${field.name}' must not be null, so it needs a default for the existing rows.`
  throw invalid([{ path: '/field/defaultValue', code: 'required', message }])
}
