import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ServiceError } from '../../api/errors.ts'
import { queryClient } from '../../api/query-client.ts'
import { createSubmit } from '../../api/submission.ts'
import type { Table } from '../../tables/queries.ts'
import { type Draft, toDraft } from '../fields/draft.ts'
import { keyOf, type Row } from '../keys.ts'
import { changedFields, checkDrafts, type Drafts, draftsOf, rebase, refusedFields } from './drafts.ts'
import { createRecord, readVersion, updateRecord, type Version, versionQuery } from './queries.ts'

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
    : Object.fromEntries(
        table.fields.map(({ name }) => [name, toDraft(Object.hasOwn(initial, name) ? initial[name] : undefined)])
      )
  return { version: start, before, drafts: before }
}

const isConflict = (error: unknown) => error instanceof ServiceError && error.code === 'PRECONDITION_FAILED'

interface Change {
  readonly onto: Version | undefined
  readonly send: Row
}

type Outcome =
  | { readonly kind: 'saved'; readonly pk: string; readonly version?: Version | undefined }
  | { readonly kind: 'conflict'; readonly theirs: Version }

/** A record that is stored counts as saved, even if it cannot be read again. */
const update = async (table: Table, pk: string, onto: Version, values: Row): Promise<Outcome> => {
  try {
    await updateRecord(table, pk, onto, values)
  } catch (error) {
    if (!isConflict(error)) throw error
    return { kind: 'conflict', theirs: await readVersion(table, pk) }
  }
  return { kind: 'saved', pk, version: await readVersion(table, pk).catch(() => undefined) }
}

/** The state of the form of a record, and how it is saved. */
export const useRecordForm = (options: FormOptions) => {
  const { table, pk, onSaved } = options
  const [state, setState] = useState(() => startOf(options))
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map())
  const [submit] = useState(createSubmit)
  const [theirs, setTheirs] = useState<Version | null>(null)
  const { version, before, drafts } = state
  const changed = changedFields(table, before, drafts)
  const { values, errors } = checkDrafts(pk === null ? table.fields : changed, drafts, version?.record ?? {})

  const show = (next: Version) => {
    const start = draftsOf(table, next.record)
    setState({ version: next, before: start, drafts: start })
  }
  const save = useMutation({
    mutationFn: async ({ onto, send }: Change): Promise<Outcome> => {
      if (pk !== null && onto) return update(table, pk, onto, send)
      const created = await submit(send, (key) => createRecord(table, send, key))
      return { kind: 'saved', pk: keyOf(table, created) }
    },
    onSuccess: (outcome) => {
      setRefused(new Map())
      if (outcome.kind === 'conflict') {
        setTheirs(outcome.theirs)
        return
      }
      if (outcome.version) show(outcome.version)
      onSaved(outcome.pk)
      // It is saved, but could not be read again: the panel does so, and says why if it fails.
      if (pk !== null && !outcome.version) queryClient.resetQueries(versionQuery(table, pk))
    },
    onError: (error) => setRefused(refusedFields(error))
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
    /** Why the last save failed. null: it did not. */
    problem: save.error,
    change,
    save: () => save.mutate({ onto: version, send: values }),
    keepMine,
    takeTheirs,
    decideLater: () => setTheirs(null)
  }
}

export type RecordFormState = ReturnType<typeof useRecordForm>
