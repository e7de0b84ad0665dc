import { parseExact } from '../api/exact-json.ts'
import { texts } from '../texts/tokens.ts'
import type { Claims } from './queries.ts'

/** How the text of a claim is read. `json`: a list of texts and integers, or an empty text. */
export const CLAIM_KINDS = ['text', 'integer', 'texts', 'integers', 'json'] as const
export type ClaimKind = (typeof CLAIM_KINDS)[number]

/** A claim as it is edited. */
export interface ClaimDraft {
  readonly id: number
  readonly name: string
  readonly kind: ClaimKind
  /** The value. Those of a list are lines. */
  readonly text: string
}

let lastId = 0

export const newClaim = (given: Partial<ClaimDraft> = {}): ClaimDraft => {
  lastId += 1
  return { id: lastId, name: '', kind: 'text', text: '', ...given }
}

export const isListKind = (kind: ClaimKind) => kind === 'texts' || kind === 'integers'

const isPlainText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isLine = (value: unknown) => isPlainText(value) && !/[\r\n]/.test(value)
const isInteger = (value: unknown) => Number.isSafeInteger(value)

const kindOf = (value: unknown): ClaimKind => {
  if (isLine(value)) return 'text'
  if (isInteger(value)) return 'integer'
  if (!Array.isArray(value) || value.length === 0) return 'json'
  if (value.every(isLine)) return 'texts'
  return value.every(isInteger) ? 'integers' : 'json'
}

const textOf = (kind: ClaimKind, value: unknown) => {
  if (kind === 'json') return JSON.stringify(value)
  return Array.isArray(value) ? value.join('\n') : String(value)
}

export const toClaimDrafts = (claims: Claims): readonly ClaimDraft[] =>
  Object.entries(claims).map(([name, value]) =>
    newClaim({ name, kind: kindOf(value), text: textOf(kindOf(value), value) })
  )

type Parsed = { readonly value: unknown } | { readonly problem: string }

const parseInteger = (text: string): Parsed => {
  const number = Number(text)
  const isValid = /^-?\d+$/.test(text.trim()) && Number.isSafeInteger(number)
  return isValid ? { value: number } : { problem: texts.notInteger }
}

const linesOf = (text: string) => text.split(/\r?\n/).filter((line) => line.trim() !== '')

const parseIntegers = (lines: readonly string[]): Parsed => {
  const parsed = lines.map(parseInteger)
  return parsed.find((one) => 'problem' in one) ?? { value: parsed.map((one) => 'value' in one && one.value) }
}

const MAX_VALUES = 100

const isValue = (value: unknown) => typeof value === 'string' || isInteger(value)

const isClaim = (value: unknown) =>
  isValue(value) || (Array.isArray(value) && value.length <= MAX_VALUES && value.every(isValue))

const parseJson = (text: string): Parsed => {
  try {
    const value = parseExact(text)
    return isClaim(value) ? { value } : { problem: texts.notClaim }
  } catch {
    return { problem: texts.notJson }
  }
}

/** Returns the value of a claim, or the problem of its text. */
export const parseClaim = ({ kind, text }: Pick<ClaimDraft, 'kind' | 'text'>): Parsed => {
  if (text.trim() === '') return { problem: texts.claimEmpty }
  if (kind === 'json') return parseJson(text)
  if (kind === 'integer') return parseInteger(text)
  if (kind === 'integers') return parseIntegers(linesOf(text))
  return { value: kind === 'texts' ? linesOf(text) : text }
}

/** Returns the claims of drafts without problems. */
export const toClaims = (drafts: readonly ClaimDraft[]): Claims =>
  Object.fromEntries(
    drafts.map((draft) => {
      const parsed = parseClaim(draft)
      return [draft.name, 'value' in parsed ? parsed.value : draft.text]
    })
  )

const nameProblem = ({ id, name }: ClaimDraft, drafts: readonly ClaimDraft[]) => {
  if (name === '') return texts.claimNameMissing
  return drafts.some((other) => other.id !== id && other.name === name) ? texts.claimTwice(name) : undefined
}

const problemOf = (draft: ClaimDraft, drafts: readonly ClaimDraft[]) => {
  const parsed = parseClaim(draft)
  return nameProblem(draft, drafts) ?? ('problem' in parsed ? parsed.problem : undefined)
}

/** Returns the problems of the claims, by their id. */
export const claimProblems = (drafts: readonly ClaimDraft[]): ReadonlyMap<number, string> =>
  new Map(
    drafts.flatMap((draft) => {
      const problem = problemOf(draft, drafts)
      return problem === undefined ? [] : [[draft.id, problem] as const]
    })
  )

/** Returns the drafts with one for each of these names. Those without a value are left out, if a role needs others. */
export const withClaimsOf = (drafts: readonly ClaimDraft[], names: readonly string[]): readonly ClaimDraft[] => {
  const kept = drafts.filter(({ name, text }) => text !== '' || names.includes(name))
  const missing = names.filter((name) => !kept.some((draft) => draft.name === name))
  return [...kept, ...missing.map((name) => newClaim({ name }))]
}
