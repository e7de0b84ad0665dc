import { useCallback, useState } from 'react'
import { isServiceError } from '../../api/client.ts'
import { fieldErrors } from '../../api/errors.ts'
import type { Table, TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { invalidateRecords, saveFields, showSaved, showSavedCell } from '../changes.ts'
import { type Draft, parseDraft, toDraft } from '../fields/draft.ts'
import { kindOf } from '../fields/kind.ts'
import { readVersion, type Version } from '../queries.ts'
import { enqueueChange } from '../queues.ts'
import { isSameValue } from '../values.ts'
import type { Edit } from './unsaved.ts'
import type { Row } from './use-rows.ts'
import { useUnsaved } from './use-unsaved.ts'

/** A value that was entered while somebody else changed the field. */
export interface Conflict {
  readonly edit: Edit
  readonly theirs: Version
}

const messageOf = (error: unknown, field: string) => {
  if (isServiceError(error) && error.code === 'RECORD_NOT_FOUND') return texts.gone
  return fieldErrors(error).get(field) ?? (error instanceof Error ? error.message : String(error))
}

/** Saves edited cells one by one. Errors and conflicts stay until the user decides. */
export const useEdits = (table: Table) => {
  const { unsaved, mark, isLatest, isSaving, discardFailed } = useUnsaved()
  const [conflicts, setConflicts] = useState<readonly Conflict[]>([])

  /** Saves an edit. Returns the current version if it conflicts with the edit. */
  const saveEdit = useCallback(
    async ({ pk, field, value, shown }: Edit, version: Version): Promise<Version | undefined> => {
      const isKnown = [...shown, value].some((one) => isSameValue(one, version.record[field]))
      if (!isKnown) return version
      const outcome = await saveFields({ table, pk, values: { [field]: value }, version })
      if ('theirs' in outcome) return outcome.theirs
      await showSavedCell(table, pk, outcome.record)
    },
    [table]
  )

  const attempt = useCallback(
    async (edit: Edit) => {
      const { pk, field, draft } = edit
      try {
        if (!isLatest(edit)) return
        const version = await readVersion(table.id, pk)
        if (!isLatest(edit)) return
        const theirs = await saveEdit(edit, version)
        if (!isLatest(edit)) return
        if (theirs) setConflicts((present) => [...present, { edit, theirs }])
        else mark(pk, field, null)
      } catch (error) {
        if (isLatest(edit)) mark(pk, field, { draft, edit, error: messageOf(error, field) })
      }
    },
    [isLatest, mark, saveEdit, table.id]
  )

  const submit = useCallback(
    (edit: Edit) => {
      mark(edit.pk, edit.field, { draft: edit.draft, edit })
      enqueueChange(table.id, edit.pk, () => attempt(edit))
    },
    [attempt, mark, table.id]
  )

  const save = useCallback(
    ({ pk, record, unsaved }: Row, field: TableField, draft: Draft) => {
      if (pk === null || !record || draft === undefined) return
      const { name } = field
      if (draft === toDraft(record[name]) && !isSaving(pk, name)) return mark(pk, name, null)
      // The panel is where the type of a value is changed.
      const parsed = parseDraft(field, draft, typeof record[name] === 'number')
      if ('error' in parsed) {
        const error = kindOf(field) === 'any' ? `${parsed.error} ${texts.textInPanel}` : parsed.error
        return mark(pk, name, { draft, error })
      }
      const last = unsaved?.get(name)?.edit
      const shown = [record[name], ...(last ? [...last.shown, last.value] : [])]
      submit({ pk, field: name, draft, value: parsed.value, shown })
    },
    [isSaving, mark, submit]
  )

  const [conflict] = conflicts
  const next = () => setConflicts(([, ...others]) => others)

  const keepMine = () => {
    if (!conflict) return
    const { edit, theirs } = conflict
    next()
    if (isLatest(edit)) submit({ ...edit, shown: [theirs.record[edit.field]] })
  }

  const takeTheirs = () => {
    if (!conflict) return
    const { edit, theirs } = conflict
    next()
    if (isLatest(edit)) mark(edit.pk, edit.field, null)
    showSaved(table, edit.pk, theirs.record)
    invalidateRecords(table.id)
  }

  const discard = ({ pk }: Row, field: string) => pk !== null && mark(pk, field, null)

  return { unsaved, conflict, save, keepMine, takeTheirs, discard, discardFailed }
}

export type Edits = ReturnType<typeof useEdits>
