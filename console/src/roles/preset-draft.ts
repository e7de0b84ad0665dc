import { parseExact } from '../api/exact-json.ts'
import { parseDraft, toDraft } from '../records/fields/draft.ts'
import { claimOf, toClaim } from '../records/filter/claim.ts'
import type { TableField } from '../tables/queries.ts'
import { texts } from '../texts/roles.ts'
import { isSameName } from './grants.ts'

/** Where the value of a preset is from. `json`: also null, and what the field of a table that is not known can have. */
export const PRESET_SOURCES = ['value', 'claim', 'json'] as const
export type PresetSource = (typeof PRESET_SOURCES)[number]

/** A value that new records get, as it is edited. */
export interface PresetDraft {
  readonly id: number
  readonly field: string
  readonly source: PresetSource
  /** The value, the name of a claim, or JSON. */
  readonly text: string
}

let lastId = 0

export const newPreset = (given: Partial<PresetDraft> = {}): PresetDraft => {
  lastId += 1
  return { id: lastId, field: '', source: 'value', text: '', ...given }
}

export const findField = (fields: readonly TableField[], name: string) =>
  fields.find((field) => isSameName(field.name, name))

type Parsed = { readonly value: unknown } | { readonly error: string }

const parseValue = (text: string, field: TableField | undefined): Parsed =>
  field ? parseDraft(field, text) : { value: text }

const parseJson = (text: string): Parsed => {
  try {
    return { value: parseExact(text) }
  } catch (error) {
    return { error: texts.notJson(error instanceof Error ? error.message : String(error)) }
  }
}

const parsePreset = ({ field, source, text }: PresetDraft, fields: readonly TableField[]): Parsed => {
  if (source === 'json') return parseJson(text)
  if (source === 'value') return parseValue(text, findField(fields, field))
  return text.trim() === '' ? { error: texts.claimMissing } : { value: toClaim(text.trim()) }
}

/** Whether an input for the field shows the value, and reads the same one. */
const isShownAsText = (value: unknown, field: TableField | undefined) => {
  const text = toDraft(value)
  if (typeof text !== 'string') return false
  const parsed = parseValue(text, field)
  return 'value' in parsed && JSON.stringify(parsed.value) === JSON.stringify(value)
}

const toPreset = (name: string, value: unknown, fields: readonly TableField[]): PresetDraft => {
  const claim = claimOf(value)
  if (claim !== undefined) return newPreset({ field: name, source: 'claim', text: claim })
  return isShownAsText(value, findField(fields, name))
    ? newPreset({ field: name, text: String(toDraft(value)) })
    : newPreset({ field: name, source: 'json', text: JSON.stringify(value) })
}

export const toPresetDrafts = (
  presets: Readonly<Record<string, unknown>> | undefined,
  fields: readonly TableField[]
): readonly PresetDraft[] => Object.entries(presets ?? {}).map(([name, value]) => toPreset(name, value, fields))

/** Returns the presets of drafts without problems. */
export const toPresets = (drafts: readonly PresetDraft[], fields: readonly TableField[]) =>
  Object.fromEntries(
    drafts.map((draft) => {
      const parsed = parsePreset(draft, fields)
      return [draft.field, 'value' in parsed ? parsed.value : draft.text]
    })
  )

const problemOf = (draft: PresetDraft, drafts: readonly PresetDraft[], fields: readonly TableField[]) => {
  if (draft.field === '') return texts.presetFieldMissing
  const isTwice = drafts.some(({ id, field }) => id !== draft.id && isSameName(field, draft.field))
  if (isTwice) return texts.presetTwice(draft.field)
  const parsed = parsePreset(draft, fields)
  return 'error' in parsed ? parsed.error : undefined
}

/** Returns the problems of the presets, by their id. */
export const presetProblems = (
  drafts: readonly PresetDraft[],
  fields: readonly TableField[]
): ReadonlyMap<number, string> =>
  new Map(
    drafts.flatMap((draft) => {
      const problem = problemOf(draft, drafts, fields)
      return problem === undefined ? [] : [[draft.id, problem] as const]
    })
  )
