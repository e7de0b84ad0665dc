import { isDeepStrictEqual } from 'node:util'
import { excerpt, invalid } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type {
  Choices,
  FieldChoices,
  HiddenSource,
  HiddenSources,
  Origin,
  RegisteredTable,
  Registration,
  Structure
} from '../model/table.ts'

/** Finds a registration by its name, ignoring case. */
type Find = (name: string) => Registration | undefined

/** A view with its choices. */
export interface ChosenView {
  readonly structure: Structure
  readonly choices: Pick<Choices, 'fields'>
}

const originOf = ({ sources }: Structure, field: FieldChoices): Origin | null =>
  sources?.origins.find(({ name }) => name === foldName(field.name))?.origin ?? null

/** Whether a hidden field of another view may show this column. */
const mayShow = (structure: Structure, field: FieldChoices, { table, column }: Origin) => {
  const origin = originOf(structure, field)
  return !origin || (origin.table === table && origin.column === column)
}

/** Returns the hidden columns of a table that a column with this origin may show. Without an origin, any of them. */
const hiddenColumns = ({ name, choices, structure }: RegisteredTable, origin: Origin | null): readonly string[] => {
  const hidden = choices.fields.filter(({ isHidden }) => isHidden)
  if (!origin) return hidden.map((field) => field.name)
  if (structure.isView) return hidden.filter((field) => mayShow(structure, field, origin)).map((field) => field.name)
  if (foldName(name) !== origin.table || hidden.length === 0) return []
  const field = choices.fields.find((other) => foldName(other.name) === origin.column)
  // A column that is not registered may be a hidden one under another name.
  return !field || field.isHidden ? [origin.column] : []
}

const hiddenSourcesIn = (table: Registration, origin: Origin | null): readonly HiddenSource[] => {
  // The choices cannot be read, so any column may be a hidden one.
  const columns = table.structure ? hiddenColumns(table, origin) : ['*']
  return columns.map((column) => ({ id: `${table.id}.${foldName(column)}`, table: table.name, column }))
}

/** Returns the hidden columns of registered tables that the fields of an SQL view may show, unless they are unhidden. */
export const hiddenSourcesOf = ({ structure, choices }: ChosenView, find: Find): HiddenSources => {
  const read = (structure.sources?.reads ?? []).flatMap((name) => find(name) ?? [])
  const found = choices.fields.map((field) => {
    const sources = read.flatMap((table) => hiddenSourcesIn(table, originOf(structure, field)))
    return [field.name, sources.filter(({ id }) => !field.unhides?.includes(id))] as const
  })
  return new Map(found.filter(([, sources]) => sources.length > 0))
}

/**
 * Returns an SQL view with those fields hidden that may show a hidden column. A view with such a key cannot be used, because
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

/** Returns why fields of an SQL view are hidden, one sentence for each. */
export const hiddenFieldWarnings = ({ structure, hiddenSources }: RegisteredTable): readonly string[] =>
  [...(hiddenSources ?? [])].map(([name, sources]) => {
    const origin = structure.sources?.origins.find((source) => source.name === foldName(name))?.origin
    const reason = origin ? 'it shows' : 'it may show values of'
    return `The field '${excerpt(name)}' is hidden: ${reason} ${listed(sources)}, hidden there. Set isHidden to false to show it.`
  })

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
