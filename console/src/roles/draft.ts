import type { Table, TableField } from '../tables/queries.ts'
import { texts } from '../texts/roles.ts'
import { ACTIONS, type Action, EVERY_TABLE, includesName, isSameName } from './grants.ts'
import { type PresetDraft, presetProblems, toPresetDrafts, toPresets } from './preset-draft.ts'
import type { Grant, Role } from './queries.ts'
import { invalidConditions, type RowsDraft, rowsProblem, toRowsDraft, toRule } from './rows-draft.ts'

/** A grant as it is edited. */
export interface GrantDraft {
  readonly id: number
  readonly tables: readonly string[]
  readonly actions: readonly Action[]
  readonly rows: RowsDraft
  /** The fields that can be read. null: all. */
  readonly read: readonly string[] | null
  /** The fields that can be set. null: all. */
  readonly write: readonly string[] | null
  readonly presets: readonly PresetDraft[]
}

export interface RoleDraft {
  readonly name: string
  readonly grants: readonly GrantDraft[]
}

let lastId = 0

const newId = () => {
  lastId += 1
  return lastId
}

export const newGrant = (given: Partial<GrantDraft> = {}): GrantDraft => ({
  tables: [],
  actions: ['read'],
  rows: toRowsDraft(undefined, []),
  read: null,
  write: null,
  presets: [],
  ...given,
  id: newId()
})

/** Returns the registered tables to which a grant applies. `*` covers no SQL view. */
export const tablesOf = (names: readonly string[], registered: readonly Table[]): readonly Table[] =>
  registered.filter(({ name, kind }) => includesName(names, name) || (kind === 'table' && names.includes(EVERY_TABLE)))

/** Returns the fields of all these tables. Of fields with one name, the first. */
export const fieldsOf = (tables: readonly Table[]): readonly TableField[] => {
  const byName = new Map<string, TableField>()
  for (const field of tables.flatMap(({ fields }) => fields)) {
    const key = field.name.toLowerCase()
    if (!byName.has(key)) byName.set(key, field)
  }
  return [...byName.values()]
}

/** Returns the fields that each of these tables has. */
export const commonFields = (tables: readonly Table[]): readonly TableField[] =>
  fieldsOf(tables).filter(({ name }) =>
    tables.every(({ fields }) => fields.some((field) => isSameName(field.name, name)))
  )

const fieldsFor = ({ tables }: { readonly tables: readonly string[] }, registered: readonly Table[]) =>
  fieldsOf(tablesOf(tables, registered))

const toGrantDraft = (grant: Grant, registered: readonly Table[]): GrantDraft => {
  const fields = fieldsFor(grant, registered)
  return newGrant({
    tables: grant.tables,
    actions: ACTIONS.filter((action) => grant.actions.includes(action)),
    rows: toRowsDraft(grant.rows, fields),
    read: grant.fields?.read ?? null,
    write: grant.fields?.write ?? null,
    presets: toPresetDrafts(grant.presets, fields)
  })
}

export const toDraft = ({ name, grants }: Role, registered: readonly Table[]): RoleDraft => ({
  name,
  grants: grants.map((grant) => toGrantDraft(grant, registered))
})

const toFields = ({ read, write }: GrantDraft) => ({
  ...(read && { read: [...read] }),
  ...(write && { write: [...write] })
})

/** Returns the grant of a draft. Parts that are not valid yet are left out. */
export const toGrant = (draft: GrantDraft, fields: readonly TableField[]): Grant => {
  const rows = toRule(draft.rows, fields)
  return {
    tables: [...draft.tables],
    actions: [...draft.actions],
    ...(rows && { rows }),
    ...((draft.read || draft.write) && { fields: toFields(draft) }),
    ...(draft.presets.length > 0 && { presets: toPresets(draft.presets, fields) })
  }
}

/** Returns the grants of a draft without problems. */
export const toGrants = ({ grants }: RoleDraft, registered: readonly Table[]): Grant[] =>
  grants.map((draft) => toGrant(draft, fieldsFor(draft, registered)))

/** The problems of a grant. */
export interface GrantProblems {
  readonly tables: string | undefined
  readonly actions: string | undefined
  readonly rows: string | undefined
  /** By the id of the condition. */
  readonly conditions: ReadonlyMap<number, string>
  readonly presets: string | undefined
  /** By the id of the preset. */
  readonly presetRows: ReadonlyMap<number, string>
}

export const NO_PROBLEMS: GrantProblems = {
  tables: undefined,
  actions: undefined,
  rows: undefined,
  conditions: new Map(),
  presets: undefined,
  presetRows: new Map()
}

export const checkGrant = (draft: GrantDraft, fields: readonly TableField[]): GrantProblems => ({
  tables: draft.tables.length === 0 ? texts.tablesMissing : undefined,
  actions: draft.actions.length === 0 ? texts.actionsMissing : undefined,
  rows: rowsProblem(draft.rows),
  conditions: invalidConditions(draft.rows, fields),
  presets: draft.presets.length > 0 && !draft.actions.includes('create') ? texts.presetsUnused : undefined,
  presetRows: presetProblems(draft.presets, fields)
})

export const hasProblems = ({ tables, actions, rows, conditions, presets, presetRows }: GrantProblems) =>
  [tables, actions, rows, presets].some((problem) => problem !== undefined) || conditions.size + presetRows.size > 0

/** Whether a draft can be sent. */
export const isValid = ({ grants }: RoleDraft, registered: readonly Table[]) =>
  grants.every((draft) => !hasProblems(checkGrant(draft, fieldsFor(draft, registered))))
