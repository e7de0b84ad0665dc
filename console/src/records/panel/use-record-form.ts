import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { queryClient } from '../../api/query-client.ts'
import { createSubmit } from '../../api/submission.ts'
import type { Table } from '../../tables/queries.ts'
import { invalidateRecords, saveFields, showSaved } from '../changes.ts'
import { keyOf, type Row } from '../keys.ts'
import { readVersion, type Version } from '../queries.ts'
import { enqueueChange } from '../queues.ts'
import { isSameIn } from '../values.ts'
import { changedFields, checkDrafts, type Drafts, draftsOf, type Entry, refusedFields } from './drafts.ts'
import { createRecord, versionQuery } from './queries.ts'

interface FormOptions {
  readonly table: Table
  /** null: a new record. */
  readonly pk: string | null
  readonly start?: Version | undefined
  readonly initial?: Row | undefined
  /** Called after each save, also if the user has left the form. */
  readonly onSaved: (pk: string) => void
  /** Called after a save if the form is still shown. */
  readonly onShow: (pk: string) => void
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

/** Keeps the drafts that differ from `before`, and takes all others from another version. */
const rebaseOnto = (table: Table, { before, drafts }: Omit<State, 'version'>, version: Version): State => {
  const next = draftsOf(table, version.record)
  const kept = changedFields(table, before, drafts).map(({ name }) => [name, drafts[name]])
  return { version, before: next, drafts: { ...next, ...Object.fromEntries(kept) } }
}

/** Takes over another version, unless it changes what the user has changed: the next save then shows the conflict. */
const rebaseUnlessConflict = (table: Table, present: State, next: Version): State => {
  const { version, before, drafts } = present
  const names = changedFields(table, before, drafts).map(({ name }) => name)
  return version && isSameIn(names, version.record, next.record) ? rebaseOnto(table, present, next) : present
}

interface Change {
  readonly version: Version | undefined
  readonly values: Row
  /** The drafts of the values. */
  readonly drafts: Drafts
}

type Result =
  | { readonly pk: string; readonly version?: Version | undefined; readonly theirs?: never }
  | { readonly theirs: Version }

/** A record that is stored counts as saved, even if its new version cannot be read. */
const update = async (table: Table, pk: string, version: Version, values: Row): Promise<Result> => {
  const outcome = await saveFields({ table, pk, values, version })
  if ('theirs' in outcome) return outcome
  showSaved(table, pk, outcome.record)
  return { pk, version: await readVersion(table.id, pk).catch(() => undefined) }
}

/** The state of the form of a record, and how it is saved. */
export const useRecordForm = (options: FormOptions) => {
  const { table, pk, start, onSaved, onShow } = options
  const [state, setState] = useState(() => startOf(options))
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map())
  const [submit] = useState(createSubmit)
  const [theirs, setTheirs] = useState<Version | null>(null)
  const { version, before, drafts } = state
  const changed = changedFields(table, before, drafts)
  const { values, errors } = checkDrafts(pk === null ? table.fields : changed, drafts)

  useEffect(() => {
    if (start) setState((present) => rebaseUnlessConflict(table, present, start))
  }, [start, table])

  /** Shows another version. Keeps the drafts that differ from `base`. */
  const show = (next: Version, base: Drafts) => {
    setState((present) => rebaseOnto(table, { before: base, drafts: present.drafts }, next))
    if (pk !== null) queryClient.setQueryData(versionQuery(table, pk).queryKey, next)
  }
  const { mutate, ...saving } = useMutation({
    mutationFn: async ({ version, values }: Change): Promise<Result> => {
      if (pk !== null && version) return enqueueChange(table.id, pk, () => update(table, pk, version, values))
      return { pk: keyOf(table, await submit(values, (key) => createRecord(table, values, key))) }
    },
    onSuccess: (result) => {
      if (result.theirs) return
      onSaved(result.pk)
      invalidateRecords(table.id)
    }
  })
  const save = (change: Change) =>
    // These callbacks do not run after the user has left the form.
    mutate(change, {
      onSuccess: (result) => {
        setRefused(new Map())
        if (result.theirs) return setTheirs(result.theirs)
        if (result.version) show(result.version, change.drafts)
        onShow(result.pk)
        // It is saved, but could not be read again: the panel does so, and says why if it fails.
        if (pk !== null && !result.version) queryClient.resetQueries(versionQuery(table, pk))
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
    show(theirs, before)
    setTheirs(null)
    save({ version: theirs, values, drafts })
  }
  const takeTheirs = () => {
    if (!theirs || pk === null) return
    show(theirs, drafts)
    setTheirs(null)
    saving.reset()
    showSaved(table, pk, theirs.record)
    invalidateRecords(table.id)
  }
  return {
    version,
    drafts,
    changed,
    values,
    theirs,
    isDirty: changed.length > 0,
    isSaving: saving.isPending,
    wrong: errors.size,
    errorOf: (name: string) => errors.get(name) ?? refused.get(name),
    /** Why the last save failed. null: it did not. */
    problem: saving.error,
    change,
    save: () => save({ version, values, drafts }),
    keepMine,
    takeTheirs,
    decideLater: () => setTheirs(null)
  }
}

export type RecordFormState = ReturnType<typeof useRecordForm>
