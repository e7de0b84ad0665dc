import type { DefaultKind, Field, ForeignKey, SearchIndex, Table } from '../../schemas/table.ts'
import { type Column, isNullable, isRequired, type RegisteredTable, type Registration } from '../model/table.ts'
import type { VisibleFields } from '../model/visible-fields.ts'
import type { UpdatedTable } from './changes/table-updates.ts'
import { notReplicable } from './failures.ts'
import { type IsVisible, referencesOf, visibleForeignKeys } from './foreign-keys.ts'
import { nameWarnings } from './names/name-warnings.ts'
import { labelFieldOf } from './registry/label-field.ts'
import { NO_SEARCH_INDEX } from './registry/search-state.ts'
import { hiddenFieldWarnings } from './registry/view-fields.ts'

const defaultKindOf = ({ defaultLiteral }: Column): DefaultKind => {
  if (defaultLiteral === 'none') return 'none'
  return defaultLiteral === 'time' || defaultLiteral === 'expression' ? 'expression' : 'value'
}

const toField = ({ structure, exactFields }: RegisteredTable, column: Column, clientName: string): Field => {
  const {
    declaredType: _,
    isGenerated: __,
    isNotNull: ___,
    defaultLiteral: ____,
    computedFrom: _____,
    keyDefault: ______,
    dateFormat: _______,
    checks,
    ...field
  } = column
  return {
    ...field,
    clientName,
    isRequired: isRequired(structure, column),
    isNullable: isNullable(structure, column),
    isExact: exactFields.has(column.name),
    defaultKind: defaultKindOf(column),
    ...checks
  }
}

const metadataOf = ({ id, name, label, isPublished, isEditable, note, createdAt, updatedAt }: Registration) => ({
  id,
  name,
  label,
  isPublished,
  isEditable,
  note,
  createdAt,
  updatedAt
})

const showSearchIndex = ({ searchIndex: { state, indexed, total } }: RegisteredTable): SearchIndex => ({
  state,
  indexed,
  total
})

const show = (table: RegisteredTable, columns: readonly Column[]): Table => {
  const { choices, structure } = table
  const clientNames = new Map(choices.fields.map(({ name, clientName }) => [name, clientName]))
  const names = columns.map(({ name }) => name)
  return {
    ...metadataOf(table),
    // If another program changed the key, it may have a column that is hidden or not registered.
    primaryKey: structure.key.filter((name) => columns === structure.columns || names.includes(name)).join(','),
    fields: columns.map((column) => toField(table, column, String(clientNames.get(column.name)))),
    clientName: choices.clientName,
    kind: structure.isView ? 'view' : 'table',
    foreignKeys: [],
    warnings: nameWarnings(names),
    searchIndex: showSearchIndex(table),
    labelField: labelFieldOf(table)
  }
}

/** A registered table is immutable, and so are the fields of a token: the JSON of each object is made once. */
const cached = <K extends object>(showTable: (shown: K, table: RegisteredTable) => Table) => {
  const made = new WeakMap<K, Table>()
  return (shown: K, table: RegisteredTable): Table => {
    const json = made.get(shown) ?? showTable(shown, table)
    made.set(shown, json)
    return json
  }
}

const withForeignKeys = (shown: Table, foreignKeys: readonly ForeignKey[]): Table => {
  if (foreignKeys.length === 0) return shown
  const references = referencesOf(foreignKeys)
  const fields = shown.fields.map((field) => {
    const reference = references.get(field.name)
    return reference ? { ...field, references: reference } : field
  })
  return { ...shown, fields, foreignKeys: [...foreignKeys] }
}

/** Says why a table of a cluster can only be read. */
const replicationWarnings = ({ name, unreplicable }: RegisteredTable): readonly string[] => {
  if (!unreplicable) return []
  return [`${notReplicable(name, unreplicable).message} ${unreplicable.remedy}`]
}

const showAll = cached((table: RegisteredTable) => {
  const shown = withForeignKeys(show(table, table.structure.columns), table.structure.foreignKeys)
  return { ...shown, warnings: [...shown.warnings, ...hiddenFieldWarnings(table), ...replicationWarnings(table)] }
})

/** Returns a table as administrators see it. If it cannot be read, it has no fields and no client name. */
export const toTable = (table: Registration): Table =>
  table.structure
    ? showAll(table, table)
    : {
        ...metadataOf(table),
        primaryKey: '',
        fields: [],
        clientName: '',
        kind: 'table',
        foreignKeys: [],
        warnings: [],
        searchIndex: NO_SEARCH_INDEX,
        labelField: null
      }

/** The counts of a search index are those of all records, so a token that sees only some of them gets none. */
const withoutCounts = (index: SearchIndex): SearchIndex => ({ ...index, indexed: 0, total: 0 })

const showFields = cached((visible: VisibleFields, table) => {
  const { columns, creatable, updatable, presets, hasRule } = visible
  const settable = new Set([...creatable, ...updatable])
  const shown = show(table, columns)
  const fields = columns.map((column, index): Field => {
    const field = shown.fields[index] as Field
    return {
      ...field,
      isReadonly: !settable.has(column),
      isRequired: field.isRequired && !presets.includes(column)
    }
  })
  const isShown = columns.some(({ name }) => name === shown.labelField)
  return {
    ...shown,
    fields,
    searchIndex: hasRule ? withoutCounts(shown.searchIndex) : shown.searchIndex,
    labelField: isShown ? shown.labelField : null
  }
})

/**
 * Returns a table as a token sees it: with the fields that exist for the token, without warnings about others, and without
 * foreign keys to fields that the token may not know.
 */
export const toVisibleTable = (table: RegisteredTable, fields: VisibleFields, isVisible: IsVisible): Table =>
  withForeignKeys(showFields(fields, table), visibleForeignKeys(table, fields.columns, isVisible))

/** Returns a table that was just created or adopted. `namedBy`: sentences about the roles and tokens that name it. */
export const toNewTable = (table: RegisteredTable, namedBy: readonly string[]): Table => {
  const shown = toTable(table)
  return { ...shown, warnings: [...shown.warnings, ...namedBy] }
}

/** Returns the table, after a rename with the tokens that named it by its old name. */
export const toUpdatedTable = ({ table, tokens }: UpdatedTable): Table => ({
  ...toTable(table),
  ...(tokens && { tokens: [...tokens] })
})
