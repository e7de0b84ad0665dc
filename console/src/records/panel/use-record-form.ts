import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ServiceError } from '../../api/errors.ts'
import type { Table } from '../../tables/queries.ts'
import { type Draft, toDraft } from '../fields/draft.ts'
import { keyOf, type Row } from '../keys.ts'
import { changedFields, checkDrafts, type Drafts, draftsOf, rebase, refusedFields } from './drafts.ts'
import { createRecord, readVersion, updateRecord, type Version } from './queries.ts'

interface FormOptions {
  readonly table: Table
  /** null: a new record. */
  readonly pk: string | null
  readonly start?: Version | undefined
  readonly initial?: Row | undefined
  readonly onSaved: (pk: string) => void
}

interface State {
  /** The version that the drafts started from. */
  readonly version: Version | undefined
  readonly before: Drafts
  readonly drafts: Drafts
}

const startOf = ({ table, start, initial = {} }: FormOptions): State => {
  const before = start
    ? draftsOf(table, start.record)
    : Object.fromEntries(table.fields.map(({ name }) => [name, toDraft(initial[name])]))
  return { version: start, before, drafts: before }
}

const isConflict = (error: unknown) => error instanceof ServiceError && error.code === 'PRECONDITION_FAILED'

/** The state of the form of a record, and how it is saved. */
export const useRecordForm = (options: FormOptions) => {
  const { table, pk, onSaved } = options
  const [state, setState] = useState(() => startOf(options))
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map())
  const [theirs, setTheirs] = useState<Version | null>(null)
  const { version, before, drafts } = state
  const changed = changedFields(table, before, drafts)
  const { values, errors } = checkDrafts(pk === null ? table.fields : changed, drafts, version?.record ?? {})

  const show = (next: Version) => {
    const start = draftsOf(table, next.record)
    setState({ version: next, before: start, drafts: start })
  }
  const save = useMutation({
    mutationFn: async ({ onto, send }: { readonly onto: Version | undefined; readonly send: Row }) => {
      if (pk === null || !onto) return { pk: keyOf(table, await createRecord(table, send)), version: undefined }
      return { pk, version: await updateRecord(table, pk, onto, send) }
    },
    onSuccess: (saved) => {
      setRefused(new Map())
      if (saved.version) show(saved.version)
      onSaved(saved.pk)
    },
    onError: async (error) => {
      setRefused(refusedFields(error))
      if (pk !== null && isConflict(error)) setTheirs(await readVersion(table, pk))
    }
  })
  const change = (name: string, draft: Draft) => {
    setState((present) => ({ ...present, drafts: { ...present.drafts, [name]: draft } }))
    setRefused((present) => new Map([...present].filter(([field]) => field !== name)))
  }
  const keepMine = () => {
    if (!theirs) return
    setState({
      version: theirs,
      before: draftsOf(table, theirs.record),
      drafts: rebase(table, before, drafts, theirs.record)
    })
    setTheirs(null)
    save.mutate({ onto: theirs, send: values })
  }
  const takeTheirs = () => {
    if (theirs) show(theirs)
    setTheirs(null)
    save.reset()
  }
  return {
    version,
    drafts,
    changed,
    values,
    theirs,
    isDirty: changed.length > 0,
    isSaving: save.isPending,
    wrong: errors.size,
    errorOf: (name: string) => errors.get(name) ?? refused.get(name),
    /** A failure that belongs to no field. */
    problem: save.isError && !isConflict(save.error) && refused.size === 0 ? save.error : null,
    change,
    save: () => save.mutate({ onto: version, send: values }),
    keepMine,
    takeTheirs,
    decideLater: () => setTheirs(null)
  }
}

export type RecordFormState = ReturnType<typeof useRecordForm>
