import { useCallback, useRef, useState } from 'react'
import { isServiceError } from '../../api/client.ts'
import { fieldErrors } from '../../api/errors.ts'
import type { Table, TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { announce, saveField } from '../changes.ts'
import { type Draft, parseDraft, toDraft } from '../fields/draft.ts'
import { kindOf } from '../fields/kind.ts'
import { type RecordData, readVersion, type Version } from '../queries.ts'
import { inTurn } from '../queues.ts'
import { isSameValue } from '../values.ts'
import type { Edit } from './unsaved.ts'
import type { Row } from './use-rows.ts'
import { useUnsaved } from './use-unsaved.ts'

/** A value that was entered while somebody else changed the record. */
export interface Conflict extends Edit {
  readonly theirs: Version
}

/** The record as it would be with the entered value. */
export const mineOf = ({ before, field, value }: Conflict): RecordData => ({ ...before, [field]: value })

const messageOf = (error: unknown, field: string) => {
  if (isServiceError(error) && error.code === 'RECORD_NOT_FOUND') return texts.gone
  return fieldErrors(error).get(field) ?? (error instanceof Error ? error.message : String(error))
}

const isConflict = (error: unknown) => isServiceError(error) && error.code === 'PRECONDITION_FAILED'

interface Outcome {
  readonly record?: RecordData | undefined
  /** The record as it is now: its field has been changed since `read`. */
  readonly theirs?: Version
}

/** Saves a field. A change of other fields since the record was read, as by its panel, is not in the way. */
const saveOnto = async (table: Table, edit: Edit, read: Version, isFirst = true): Promise<Outcome> => {
  const { pk, field, value } = edit
  try {
    return { record: await saveField({ table, pk, field, value, etag: read.etag }) }
  } catch (error) {
    if (!isConflict(error)) throw error
    const theirs = await readVersion(table.id, pk)
    const isFree = isFirst && isSameValue(theirs.record[field], read.record[field])
    return isFree ? saveOnto(table, edit, theirs, false) : { theirs }
  }
}

const cellOf = ({ pk, field }: Edit) => JSON.stringify([pk, field])

/** Saves one edit at a time of each record. Returns the version of somebody else if that is in the way. */
const useSaving = (table: Table) => {
  const reads = useRef(new Map<string, Promise<Version>>())
  /** The values that were saved here, by cell. The grid may not show them yet. */
  const saved = useRef(new Map<string, unknown>())

  /** Reads the record that is about to be edited, for its ETag. */
  const begin = useCallback(
    ({ pk }: Row) => {
      if (pk === null) return
      const read = readVersion(table.id, pk)
      // `put` reads it again, and shows why it fails.
      read.catch(() => reads.current.delete(pk))
      reads.current.set(pk, read)
    },
    [table.id]
  )

  /** Forgets what was read: the record has changed since. */
  const forget = useCallback((pk: string) => reads.current.delete(pk), [])

  const put = useCallback(
    async (edit: Edit): Promise<Version | undefined> => {
      const { pk, field, before } = edit
      try {
        const read = await (reads.current.get(pk) ?? readVersion(table.id, pk))
        const known = [before[field], saved.current.get(cellOf(edit))]
        if (!known.some((one) => isSameValue(one, read.record[field]))) return read
        const outcome = await saveOnto(table, edit, read)
        if (outcome.theirs) return outcome.theirs
        saved.current.set(cellOf(edit), outcome.record?.[field])
      } finally {
        forget(pk)
      }
    },
    [forget, table]
  )

  return { begin, forget, put }
}

/** Saves edited cells one by one. Errors and conflicts stay until the user decides. */
export const useEdits = (table: Table) => {
  const { unsaved, mark, isLatest, isSaving, discardFailed } = useUnsaved()
  const [conflicts, setConflicts] = useState<readonly Conflict[]>([])
  const { begin, forget, put } = useSaving(table)

  const attempt = useCallback(
    async (edit: Edit) => {
      const { pk, field, draft } = edit
      if (!isLatest(edit)) return
      try {
        const theirs = await put(edit)
        if (!isLatest(edit)) return
        if (theirs) setConflicts((present) => [...present, { ...edit, theirs }])
        else mark(pk, field, null)
      } catch (error) {
        if (isLatest(edit)) mark(pk, field, { draft, error: messageOf(error, field) })
      }
    },
    [isLatest, mark, put]
  )

  const submit = useCallback(
    (edit: Edit) => {
      mark(edit.pk, edit.field, { draft: edit.draft, edit })
      inTurn(table.id, edit.pk, () => attempt(edit))
    },
    [attempt, mark, table.id]
  )

  const save = useCallback(
    ({ pk, record }: Row, field: TableField, draft: Draft) => {
      if (pk === null || !record || draft === undefined) return
      const { name } = field
      if (draft === toDraft(record[name]) && !isSaving(pk, name)) return mark(pk, name, null)
      // The panel is where the type of a value is changed.
      const parsed = parseDraft(field, draft, typeof record[name] === 'number')
      if ('error' in parsed) {
        const error = kindOf(field) === 'any' ? `${parsed.error} ${texts.textInPanel}` : parsed.error
        return mark(pk, name, { draft, error })
      }
      submit({ pk, field: name, draft, value: parsed.value, before: record })
    },
    [isSaving, mark, submit]
  )

  const [conflict] = conflicts
  const next = () => setConflicts(([, ...others]) => others)

  const keepMine = () => {
    if (!conflict) return
    const { theirs, ...edit } = conflict
    next()
    forget(edit.pk)
    submit({ ...edit, before: theirs.record })
  }

  const takeTheirs = () => {
    if (!conflict) return
    next()
    mark(conflict.pk, conflict.field, null)
    announce(table.id)
  }

  const discard = ({ pk }: Row, field: string) => pk !== null && mark(pk, field, null)

  return { unsaved, conflict, begin, save, keepMine, takeTheirs, discard, discardFailed }
}

export type Edits = ReturnType<typeof useEdits>
