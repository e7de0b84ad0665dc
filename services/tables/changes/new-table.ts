import type { NewField, NewReference, NewTable } from '../../../schemas/new-table.ts'
import { invalid } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import { type Column, type Structure, TIMESTAMPS } from '../../model/table.ts'
import type { ColumnDeclaration } from '../../sql/ddl.ts'
import { withIndexFacts } from '../../sql/indexes.ts'
import { visibleRowidName } from '../../sql/introspection.ts'
import { checkDefaults, checkField, checkFieldName, storedDefault, toColumn } from './field-rules.ts'
import type { DeclaredIndex } from './index-names.ts'

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
  if (fields.some(({ isPrimary }) => isPrimary)) return fields
  const index = fields.findIndex(({ name }) => foldName(name) === 'id')
  const id = fields[index]
  if (!id) return [{ name: 'id', jsonType: 'integer', isPrimary: true, isAutoIncrement: true }, ...fields]
  if (id.jsonType === 'integer') return fields.with(index, { ...id, isPrimary: true, isAutoIncrement: true })
  const message = `'${id.name}' cannot become the key of the table: it is not an integer.`
  throw invalid([{ path: `/fields/${index}`, code: 'key', message }], 'Mark a primary field, or rename this one.')
}

/** A foreign key to declare, whose target has not been found yet. */
export interface SentReference {
  readonly column: Column
  readonly references: NewReference
  /** Where the field is in the request. */
  readonly path: string
}

/** Returns the indexes for the fields that are to have one, except those whose key is an index already. */
const declaredIndexes = (fields: readonly NewField[], [first, second]: readonly string[]): readonly DeclaredIndex[] =>
  fields.flatMap(({ name, isUnique = false, isIndexed = false }) => {
    const isKey = name === first && second === undefined
    const isCovered = isKey || (name === first && !isUnique)
    return isCovered || !(isUnique || isIndexed) ? [] : [{ fields: [name], isUnique }]
  })

const toDeclaration = (column: Column): ColumnDeclaration => ({ column, defaultValue: storedDefault(column) })

export interface NewStructure {
  readonly structure: Structure
  readonly declarations: readonly ColumnDeclaration[]
  readonly indexes: readonly DeclaredIndex[]
  readonly references: readonly SentReference[]
}

/** Returns the structure of a declared table. @throws VALIDATION_FAILED */
export const declareStructure = ({ fields, autoTimestamps = false }: NewTable): NewStructure => {
  const timestamps = autoTimestamps ? TIMESTAMPS.map(timestampField) : []
  const sent = [...fields, ...timestamps]
  const declared = withKey(sent)
  checkNames(fields, timestamps)
  const key = declared.filter(({ isPrimary }) => isPrimary).map(({ name }) => name)
  const isComposite = key.length > 1
  // An added key is the first field, and is not part of the request.
  const added = declared.length - sent.length
  const pathOf = (index: number) => `/fields/${index - added}`
  for (const [index, field] of declared.entries()) {
    checkFieldName(field.name, pathOf(index))
    checkField(field, pathOf(index), isComposite)
  }
  const indexes = declaredIndexes(declared, key)
  const columns = withIndexFacts(
    declared.map((field) => toColumn(field, isComposite)),
    indexes.map((index) => ({ ...index, columns: index.fields, isPartial: false })),
    key
  )
  checkDefaults([], columns, pathOf)
  const isRowidKey = !isComposite && columns.some((column) => column.isPrimary && column.sqliteType === 'INTEGER')
  const rowid = isRowidKey ? String(key[0]) : visibleRowidName(columns)
  const structure = {
    columns,
    isView: false,
    hasCollatedKey: false,
    conflicts: null,
    isStrict: true,
    key,
    isRowidKey,
    rowid,
    foreignKeys: [],
    autoTimestamps
  }
  const references = columns.flatMap((column, index) => {
    const target = declared[index]?.references
    return target ? [{ column, references: target, path: pathOf(index) }] : []
  })
  return { structure, declarations: columns.map(toDeclaration), indexes, references }
}

export interface NewColumn extends ColumnDeclaration {
  readonly index: DeclaredIndex | null
}

/** A field with a default would refer to the same record in each existing record. SQLite refuses it, too. */
const checkAddedReference = ({ name, references, defaultValue = null }: NewField) => {
  if (!references || defaultValue === null) return
  const message = `'${name}' refers to another field, so it cannot have a default for the existing rows.`
  throw invalid([{ path: '/field/defaultValue', code: 'conflict', message }])
}

/** Returns a column for a table that may have rows. Its name is not checked. @throws VALIDATION_FAILED */
export const declareField = (field: NewField): NewColumn => {
  if (field.isPrimary || field.isAutoIncrement) {
    const path = field.isPrimary ? '/field/isPrimary' : '/field/isAutoIncrement'
    throw invalid([{ path, code: 'key', message: 'The key of an existing table cannot change.' }])
  }
  checkField(field, '/field')
  checkAddedReference(field)
  const column = toColumn(field)
  const [index = null] = declaredIndexes([field], [])
  if (column.nullable || column.defaultValue !== null) return { ...toDeclaration(column), index }
  const message = `'${field.name}' must not be null, so it needs a default for the existing rows.`
  throw invalid([{ path: '/field/defaultValue', code: 'required', message }])
}
