import { useCallback, useRef, useState } from 'react'
import { isServiceError } from '../../api/client.ts'
import { fieldErrors } from '../../api/errors.ts'
import type { Table, TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { announce, saveField } from '../changes.ts'
import { type Draft, parseDraft, toDraft } from '../fields/draft.ts'
import { type ReadRecord, type RecordData, readRecord } from '../queries.ts'
import { type Unsaved, type UnsavedCells, withUnsaved } from './unsaved.ts'
import type { Row } from './use-rows.ts'

interface Edit {
  readonly pk: string
  readonly field: string
  readonly draft: string | null
  readonly value: unknown
  /** The record as it was shown. */
  readonly before: RecordData
}

/** A value that was entered while somebody else changed the record. */
export interface Conflict extends Edit {
  readonly theirs: ReadRecord
}

/** The record as it would be with the entered value. */
export const mineOf = ({ before, field, value }: Conflict): RecordData => ({ ...before, [field]: value })

const isSameValue = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

const messageOf = (error: unknown, field: string) => {
  if (isServiceError(error) && error.code === 'RECORD_NOT_FOUND') return texts.gone
  return fieldErrors(error).get(field) ?? (error instanceof Error ? error.message : String(error))
}

const isConflict = (error: unknown) => isServiceError(error) && error.code === 'PRECONDITION_FAILED'

/** Saves edited cells one by one. Errors and conflicts stay until the user decides. */
export const useEdits = (table: Table) => {
  const [unsaved, setUnsaved] = useState<UnsavedCells>(new Map())
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const reads = useRef(new Map<string, Promise<ReadRecord>>())

  const mark = useCallback(
    (pk: string, field: string, cell: Unsaved | null) => setUnsaved((present) => withUnsaved(present, pk, field, cell)),
    []
  )

  /** Reads the record that is about to be edited, for its ETag. */
  const begin = useCallback(
    ({ pk }: Row) => {
      if (pk === null) return
      const read = readRecord(table.id, pk)
      // `save` reads it again, and shows why it fails.
      read.catch(() => reads.current.delete(pk))
      reads.current.set(pk, read)
    },
    [table.id]
  )

  const put = useCallback(
    async (edit: Edit, etag: string) => {
      const { pk, field, value } = edit
      try {
        await saveField({ table, pk, field, value, etag })
        mark(pk, field, null)
      } catch (error) {
        if (!isConflict(error)) throw error
        setConflict({ ...edit, theirs: await readRecord(table.id, pk) })
      }
    },
    [mark, table]
  )

  const attempt = useCallback(
    async ({ pk, field, draft }: Edit, run: () => Promise<void>) => {
      mark(pk, field, { draft })
      try {
        await run()
      } catch (error) {
        mark(pk, field, { draft, error: messageOf(error, field) })
      }
    },
    [mark]
  )

  const save = useCallback(
    ({ pk, record }: Row, field: TableField, draft: Draft) => {
      if (pk === null || !record || draft === undefined) return
      const { name } = field
      if (draft === toDraft(record[name])) return mark(pk, name, null)
      const parsed = parseDraft(field, draft, record[name])
      if ('error' in parsed) return mark(pk, name, { draft, error: parsed.error })
      const edit = { pk, field: name, draft, value: parsed.value, before: record }
      attempt(edit, async () => {
        const read = await (reads.current.get(pk) ?? readRecord(table.id, pk))
        reads.current.delete(pk)
        // Somebody else has changed the value since the row was loaded.
        if (isSameValue(read.record[name], record[name])) await put(edit, read.etag)
        else setConflict({ ...edit, theirs: read })
      })
    },
    [attempt, mark, put, table.id]
  )

  const keepMine = () => {
    if (!conflict) return
    setConflict(null)
    attempt(conflict, () => put(conflict, conflict.theirs.etag))
  }

  const takeTheirs = () => {
    if (!conflict) return
    mark(conflict.pk, conflict.field, null)
    setConflict(null)
    announce(table.id)
  }

  const discard = ({ pk }: Row, field: string) => pk !== null && mark(pk, field, null)

  return { unsaved, conflict, begin, save, keepMine, takeTheirs, discard }
}
