import type { NewReference } from '../../../schemas/new-table.ts'
import { excerpt, invalid } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import type { Column, Registration } from '../../model/table.ts'
import type { IsVisible } from '../foreign-keys.ts'
import type { SentReference } from './new-table.ts'

/** A table to which a field can refer. */
interface Target {
  readonly name: string
  readonly columns: readonly Column[]
}

/** Whether the caller may declare a foreign key to a field of a registered table: it may know the field. */
export type Referable = IsVisible

/** For callers without fields to refer to, other than those of the same table. */
export const NOTHING_REFERABLE: Referable = () => false

const unknownTarget = ({ column, references: { table, field }, path }: SentReference) => {
  const message = `'${column.name}' cannot refer to '${excerpt(table)}.${excerpt(field)}': there is no such table or field.`
  return invalid([{ path: `${path}/references`, code: 'unknown', message }], 'The table must be registered.')
}

const notUnique = ({ column, references: { table, field }, path }: SentReference) => {
  const message = `'${column.name}' cannot refer to '${table}.${field}', which is neither the key nor unique.`
  return invalid([{ path: `${path}/references/field`, code: 'unique', message }], 'Create a unique index for it first.')
}

const otherType = ({ column, references: { table, field }, path }: SentReference, { sqliteType }: Column) => {
  const message = `'${column.name}' cannot refer to '${table}.${field}', which is stored as ${sqliteType}: it is stored as ${column.sqliteType}.`
  return invalid([{ path: `${path}/jsonType`, code: 'type', message }], 'Give the field the type of the other field.')
}

const toTarget = (table: Registration | undefined): Target | null =>
  table?.structure && !table.structure.isView && !table.isOutdated
    ? { name: table.name, columns: table.structure.columns }
    : null

/**
 * Returns the function that finds the target of a foreign key, with the names as they are stored. `own`: the table that
 * gets the field, which need not be registered yet.
 */
export const referenceFinder =
  (find: (name: string) => Registration | undefined, isReferable: Referable, own: Target) =>
  (sent: SentReference): NewReference => {
    const { column, references } = sent
    const registered = find(references.table)
    const isOwn = foldName(references.table) === foldName(own.name)
    const target = isOwn ? own : toTarget(registered)
    const referred = target?.columns.find(({ name }) => foldName(name) === foldName(references.field))
    const isKnown = registered === undefined || isReferable(references.table, references.field)
    if (!target || !referred || !isKnown) throw unknownTarget(sent)
    if (!referred.isUnique) throw notUnique(sent)
    if (referred.sqliteType !== column.sqliteType) throw otherType(sent, referred)
    return { ...references, table: target.name, field: referred.name }
  }
