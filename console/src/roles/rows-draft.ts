import { parseExact } from '../api/exact-json.ts'
import { toFilter, toRuleModel } from '../records/filter/convert.ts'
import { type FilterModel, findInvalid, isGroup, newCondition } from '../records/filter/filter.ts'
import type { TableField } from '../tables/queries.ts'
import { texts } from '../texts/roles.ts'
import type { Rule } from './queries.ts'

/** How the rule of a grant is edited. The texts of the other modes are kept until the role is saved. */
export type RowsMode = 'all' | 'conditions' | 'json'

export interface RowsDraft {
  readonly mode: RowsMode
  readonly model: FilterModel
  /** The rule as JSON. */
  readonly text: string
  /** What was stored, while its conditions are not edited: the conditions can be the same in another form. */
  readonly stored: { readonly rule: Rule; readonly model: FilterModel } | null
}

const NO_CONDITIONS: FilterModel = { match: 'all', items: [] }

const toText = (rule: Rule) => JSON.stringify(rule, null, 2)

export const toRowsDraft = (rule: Rule | undefined, fields: readonly TableField[]): RowsDraft => {
  if (!rule) return { mode: 'all', model: NO_CONDITIONS, text: '', stored: null }
  const model = toRuleModel(fields, rule)
  if (!model || model.items.length === 0)
    return { mode: 'json', model: NO_CONDITIONS, text: toText(rule), stored: null }
  return { mode: 'conditions', model, text: '', stored: { rule, model } }
}

type Parsed = { readonly rule: Rule } | { readonly problem: string }

const PARTS = ['where', 'via', 'all', 'any', 'none']

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the problems of the form of a rule. Whether its fields and operators exist, depends on the tables. */
const formProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return texts.notRule
  for (const [name, part] of Object.entries(value)) {
    const problem = partProblem(name, part)
    if (problem !== undefined) return problem
  }
  return undefined
}

const partProblem = (name: string, part: unknown) => {
  if (!PARTS.includes(name)) return texts.noPart(name)
  if (name === 'where') {
    return isObject(part) && Object.values(part).every(isObject) ? undefined : texts.notWhere
  }
  if (name === 'via') return isObject(part) ? firstProblem(Object.values(part)) : texts.notVia
  return Array.isArray(part) ? firstProblem(part) : texts.notList(name)
}

const firstProblem = (rules: readonly unknown[]) => rules.map(formProblem).find((problem) => problem !== undefined)

const parseJson = (text: string): { readonly value: unknown } | { readonly problem: string } => {
  try {
    return { value: parseExact(text) }
  } catch (error) {
    return { problem: texts.notJson(error instanceof Error ? error.message : String(error)) }
  }
}

/** Reads a rule that was typed as JSON. */
export const parseRule = (text: string): Parsed => {
  const parsed = parseJson(text)
  if ('problem' in parsed) return parsed
  const problem = formProblem(parsed.value)
  return problem === undefined ? { rule: parsed.value as Rule } : { problem }
}

/** Returns the rule of a draft; undefined for all rows, and for a draft that is no rule. */
export const toRule = ({ mode, model, text, stored }: RowsDraft, fields: readonly TableField[]): Rule | undefined => {
  if (mode === 'all') return undefined
  if (mode === 'conditions') return model === stored?.model ? stored.rule : (toFilter(fields, model) ?? undefined)
  const parsed = parseRule(text)
  return 'rule' in parsed ? parsed.rule : undefined
}

const isEmpty = ({ items }: FilterModel) =>
  items.length === 0 || items.some((item) => isGroup(item) && item.conditions.length === 0)

/** Returns the problems of a draft as a whole. `findInvalid` returns the problems of its conditions. */
export const rowsProblem = ({ mode, model, text }: RowsDraft): string | undefined => {
  if (mode === 'all') return undefined
  if (mode === 'conditions') return isEmpty(model) ? texts.noCondition : undefined
  const parsed = parseRule(text)
  return 'problem' in parsed ? parsed.problem : undefined
}

/** Returns the problems of the conditions, by their id. */
export const invalidConditions = ({ mode, model }: RowsDraft, fields: readonly TableField[]) =>
  mode === 'conditions' ? findInvalid(fields, model) : new Map<number, string>()

const hasContent = ({ items }: FilterModel) => items.length > 0

/** Returns the model of the JSON text; null if the builder cannot show all of it. */
const modelOf = (text: string, fields: readonly TableField[]) => {
  if (text.trim() === '') return NO_CONDITIONS
  const parsed = parseRule(text)
  return 'rule' in parsed ? toRuleModel(fields, parsed.rule) : null
}

/** Whether the builder can show what the draft has now. */
export const canBuild = ({ mode, text }: RowsDraft, fields: readonly TableField[]) =>
  fields.length > 0 && (mode !== 'json' || modelOf(text, fields) !== null)

const withFirst = (model: FilterModel, fields: readonly TableField[]): FilterModel =>
  hasContent(model) ? model : { ...model, items: fields.slice(0, 1).map(newCondition) }

/** Returns the draft in another mode. Conditions and JSON are the same rule. */
export const inMode = (draft: RowsDraft, mode: RowsMode, fields: readonly TableField[]): RowsDraft => {
  if (mode === 'all' || mode === draft.mode) return { ...draft, mode }
  if (mode === 'json') {
    const rule = draft.mode === 'conditions' ? toRule(draft, fields) : undefined
    return { ...draft, mode, text: rule ? toText(rule) : draft.text || toText({ where: {} }) }
  }
  const model = draft.mode === 'json' ? (modelOf(draft.text, fields) ?? NO_CONDITIONS) : draft.model
  return { ...draft, mode, model: withFirst(model, fields) }
}
