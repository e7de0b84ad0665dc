import { isDeepStrictEqual } from 'node:util'
import { excerpt, invalid } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import type {
  Choices,
  FieldChoices,
  HiddenSource,
  HiddenSources,
  Origin,
  RegisteredTable,
  Registration,
  Structure
} from '../../model/table.ts'

/** Finds a registration by its name, ignoring case. */
type Find = (name: string) => Registration | undefined

/** A table or an SQL view with its choices. */
export interface ChosenTable {
  readonly name: string
  readonly structure: Structure
  readonly choices: Pick<Choices, 'fields'>
}

/** Returns the folded names of the columns from which a field is computed, also through other generated columns. */
const inputsOf = ({ columns }: Structure, field: string): ReadonlySet<string> => {
  const inputs = new Set<string>()
  const add = (name: string) => {
    for (const input of columns.find((column) => foldName(column.name) === name)?.computedFrom ?? []) {
      if (inputs.has(input)) continue
      inputs.add(input)
      add(input)
    }
  }
  add(foldName(field))
  return inputs
}

/** Returns the hidden columns of the same table that a generated field may show. */
const ownSourcesOf = ({ name, structure, choices }: ChosenTable, field: FieldChoices): readonly HiddenSource[] => {
  const inputs = inputsOf(structure, field.name)
  return choices.fields
    .filter((other) => other.isHidden && inputs.has(foldName(other.name)))
    .map((other) => ({ id: `own.${foldName(other.name)}`, table: name, column: other.name }))
}

const withoutUnhidden = (sources: readonly HiddenSource[], { unhides }: FieldChoices) =>
  sources.filter(({ id }) => !unhides?.includes(id))

/** Returns the fields that are hidden by choice, or because they are computed from such a field. */
const hiddenFieldsOf = (table: ChosenTable) =>
  table.choices.fields.filter(
    (field) => field.isHidden || withoutUnhidden(ownSourcesOf(table, field), field).length > 0
  )

const originOf = ({ sources }: Structure, field: FieldChoices): Origin | null =>
  sources?.origins.find(({ name }) => name === foldName(field.name))?.origin ?? null

/** Whether a hidden field of another view may show this column. */
const mayShow = (structure: Structure, field: FieldChoices, { table, column }: Origin) => {
  const origin = originOf(structure, field)
  return !origin || (origin.table === table && origin.column === column)
}

/** Returns the hidden columns of a table that a column with this origin may show. Without an origin, any of them. */
const hiddenColumns = (table: RegisteredTable, origin: Origin | null): readonly string[] => {
  const { name, choices, structure } = table
  const hidden = hiddenFieldsOf(table)
  if (!origin) return hidden.map((field) => field.name)
  if (structure.isView) return hidden.filter((field) => mayShow(structure, field, origin)).map((field) => field.name)
  if (foldName(name) !== origin.table || hidden.length === 0) return []
  const field = choices.fields.find((other) => foldName(other.name) === origin.column)
  // A column that is not registered may be a hidden one under another name.
  return !field || hidden.includes(field) ? [origin.column] : []
}

const hiddenSourcesIn = (table: Registration, origin: Origin | null): readonly HiddenSource[] => {
  // The choices cannot be read, so any column may be a hidden one.
  const columns = table.structure ? hiddenColumns(table, origin) : ['*']
  return columns.map((column) => ({ id: `${table.id}.${foldName(column)}`, table: table.name, column }))
}

/** Returns the hidden columns that fields of an SQL view and generated fields may show, unless they are unhidden. */
export const hiddenSourcesOf = (table: ChosenTable, find: Find): HiddenSources => {
  const { structure, choices } = table
  const read = (structure.sources?.reads ?? []).flatMap((name) => find(name) ?? [])
  const found = choices.fields.map((field) => {
    const sources = read.flatMap((other) => hiddenSourcesIn(other, originOf(structure, field)))
    return [field.name, withoutUnhidden([...sources, ...ownSourcesOf(table, field)], field)] as const
  })
  return new Map(found.filter(([, sources]) => sources.length > 0))
}

/**
 * Returns a table with those fields hidden that may show a hidden column. A view with such a key cannot be used, because
 * tokens would see the key.
 */
export const withHiddenSources = (view: RegisteredTable, find: Find): RegisteredTable => {
  const hiddenSources = hiddenSourcesOf(view, find)
  if (hiddenSources.size === 0) return view
  const { structure } = view
  const columns = structure.columns.map((column) => ({
    ...column,
    isHidden: column.isHidden || hiddenSources.has(column.name)
  }))
  const hidesKey = structure.key.some((name) => hiddenSources.has(name))
  return { ...view, structure: { ...structure, columns }, isOutdated: view.isOutdated || hidesKey, hiddenSources }
}

export const isSameTable = (one: Registration | undefined, other: Registration) => isDeepStrictEqual(one, other)

const MAX_NAMED = 3

const listed = (sources: readonly HiddenSource[]) => {
  const names = sources.slice(0, MAX_NAMED).map(({ table, column }) => `'${excerpt(table)}.${excerpt(column)}'`)
  return [...names, ...(sources.length > MAX_NAMED ? [`${sources.length - MAX_NAMED} more`] : [])].join(', ')
}

const reasonOf = (structure: Structure, field: string) => {
  if (!structure.isView) return 'it is computed from'
  const origin = structure.sources?.origins.find(({ name }) => name === foldName(field))?.origin
  return origin ? 'it shows' : 'it may show values of'
}

/** Returns why fields are hidden that are not hidden by choice, one sentence for each. */
export const hiddenFieldWarnings = ({ structure, hiddenSources }: RegisteredTable): readonly string[] =>
  [...(hiddenSources ?? [])].map(
    ([name, sources]) =>
      `The field '${excerpt(name)}' is hidden: ${reasonOf(structure, name)} ${listed(sources)}, hidden there. Set isHidden to false to show it.`
  )

/** @throws VALIDATION_FAILED if a field of the key is hidden */
export const checkVisibleKey = (key: readonly string[], hidden: HiddenSources) => {
  for (const [index, name] of key.entries()) {
    const sources = hidden.get(name)
    if (!sources) continue
    const message = `'${excerpt(name)}' may show ${listed(sources)}, hidden there, so it cannot be the key. Choose another key, or send the field with isHidden: false.`
    throw invalid([{ path: `/primaryKey/${index}`, code: 'key', message }])
  }
}

/** Returns the choices for the views that show hidden columns of a table, with these fields hidden by choice. */
export const choicesWithout = (table: Registration, views: readonly Registration[]) =>
  views.flatMap((view) => {
    if (!view.structure) return []
    const shows = (name: string) => view.hiddenSources?.get(name)?.some(({ id }) => id.startsWith(`${table.id}.`))
    if (!view.choices.fields.some(({ name }) => shows(name))) return []
    const fields = view.choices.fields.map((field) => (shows(field.name) ? { ...field, isHidden: true } : field))
    return [{ view, choices: { ...view.choices, fields } }]
  })
