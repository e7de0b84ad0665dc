import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ServiceError } from '../../api/errors.ts'
import { queryClient } from '../../api/query-client.ts'
import { createSubmit } from '../../api/submission.ts'
import type { Table } from '../../tables/queries.ts'
import { showSaved } from '../changes.ts'
import { keyOf, type Row } from '../keys.ts'
import { readVersion, type Version } from '../queries.ts'
import { inTurn } from '../queues.ts'
import { isSameValue } from '../values.ts'
import { changedFields, checkDrafts, type Drafts, draftsOf, type Entry, rebase, refusedFields } from './drafts.ts'
import { createRecord, updateRecord, versionQuery } from './queries.ts'

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
  const before = draftsOf(table, start?.record ?? initial)
  return { version: start, before, drafts: before }
}

/** Keeps what the user has changed, and takes all else from another version. */
const ontoVersion = (table: Table, { before, drafts }: State, next: Version): State => ({
  version: next,
  before: draftsOf(table, next.record),
  drafts: rebase(table, before, drafts, next.record)
})

const differsIn = (names: readonly string[], one: Version, other: Version) =>
  names.some((name) => !isSameValue(one.record[name], other.record[name]))

/** Takes over what was saved in the grid. A field that is changed in both is left to the conflict. */
const withSaved = (table: Table, present: State, next: Version): State => {
  const { version, before, drafts } = present
  const names = changedFields(table, before, drafts).map(({ name }) => name)
  if (!version || version.etag === next.etag || differsIn(names, version, next)) return present
  return ontoVersion(table, present, next)
}

/** Returns the version to save these values onto: what was saved in the grid, unless it has changed these fields. */
const latestOf = (table: Table, pk: string, version: Version, values: Row) => {
  const latest = queryClient.getQueryData(versionQuery(table, pk).queryKey)
  return latest && !differsIn(Object.keys(values), version, latest) ? latest : version
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
    await updateRecord(table, pk, latestOf(table, pk, onto, values), values)
  } catch (error) {
    if (!isConflict(error)) throw error
    return { kind: 'conflict', theirs: await readVersion(table.id, pk) }
  }
  return { kind: 'saved', pk, version: await readVersion(table.id, pk).catch(() => undefined) }
}

/** The state of the form of a record, and how it is saved. */
export const useRecordForm = (options: FormOptions) => {
  const { table, pk, start, onSaved } = options
  const [state, setState] = useState(() => startOf(options))
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map())
  const [submit] = useState(createSubmit)
  const [theirs, setTheirs] = useState<Version | null>(null)
  const { version, before, drafts } = state
  const changed = changedFields(table, before, drafts)
  const { values, errors } = checkDrafts(pk === null ? table.fields : changed, drafts)

  useEffect(() => {
    if (start) setState((present) => withSaved(table, present, start))
  }, [start, table])

  /** The cache has the latest version: each save in the grid adds to it. */
  const cache = (next: Version) => pk !== null && queryClient.setQueryData(versionQuery(table, pk).queryKey, next)
  const show = (next: Version) => {
    const shown = draftsOf(table, next.record)
    setState({ version: next, before: shown, drafts: shown })
    cache(next)
  }
  const save = useMutation({
    mutationFn: async ({ onto, send }: Change): Promise<Outcome> => {
      if (pk !== null && onto) return inTurn(table.id, pk, () => update(table, pk, onto, send))
      const created = await submit(send, (key) => createRecord(table, send, key))
      return { kind: 'saved', pk: keyOf(table, created) }
    },
    onSuccess: (outcome) => {
      setRefused(new Map())
      if (outcome.kind === 'conflict') {
        setTheirs(outcome.theirs)
        return
      }
      if (outcome.version) {
        show(outcome.version)
        showSaved(table, outcome.pk, outcome.version.record)
      }
      onSaved(outcome.pk)
      // It is saved, but could not be read again: the panel does so, and says why if it fails.
      if (pk !== null && !outcome.version) queryClient.resetQueries(versionQuery(table, pk))
    },
    onError: (error) => setRefused(refusedFields(error))
  })
  const change = (name: string, changes: Partial<Entry>) => {
    setState((present) => {
      const { draft, isNumber = false } = present.drafts[name] ?? {}
      return { ...present, drafts: { ...present.drafts, [name]: { draft, isNumber, ...changes } } }
    })
    setRefused((present) => new Map([...present].filter(([field]) => field !== name)))
  }
  const keepMine = () => {
    if (!theirs) return
    setState(ontoVersion(table, state, theirs))
    cache(theirs)
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
