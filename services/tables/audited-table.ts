import type { AuditAction } from '../../schemas/audit.ts'
import { type AuditEntry, summaryOf } from '../audit/audit-row.ts'
import type { Choices, Registration } from '../model/table.ts'

/** Returns what a change does to a table, for the audit. */
export const tableEntry = (
  { id, name }: Pick<Registration, 'id' | 'name'>,
  action: AuditAction,
  summary: object = {}
): AuditEntry => ({ action, target: name, targetId: id, summary })

/** Returns the summary of changes of fields. Whether a field is hidden decides who sees its values. */
export const fieldSummaries = (fields: readonly { readonly name: string }[]) =>
  fields.map(({ name, ...changes }) => ({ name, ...summaryOf(changes) }))

/** Returns the names of the hidden fields. */
export const hiddenIn = (fields: readonly { readonly name: string; readonly isHidden: boolean }[]) =>
  fields.filter(({ isHidden }) => isHidden).map(({ name }) => name)

const namesIn = ({ fields }: Pick<Choices, 'fields'>) => fields.map(({ name }) => name)

/** Returns the names of the fields that are in `fields` and not in `others`. */
const without = (fields: readonly string[], others: readonly string[]) => {
  const known = new Set(others)
  return fields.filter((name) => !known.has(name))
}

/** Returns the summary of a refresh. */
export const refreshSummary = (before: Pick<Choices, 'fields'>, after: Pick<Choices, 'fields'>) => ({
  added: without(namesIn(after), namesIn(before)),
  removed: without(namesIn(before), namesIn(after))
})
