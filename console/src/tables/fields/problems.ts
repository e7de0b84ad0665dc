import { texts } from '../../texts/table-fields.ts'
import { allowedLines, type FieldDraft, hasLength, hasRange } from './draft.ts'
import { parseValue } from './values.ts'

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/

/** Returns the problems of a name, or undefined. */
export const nameProblem = (name: string) => {
  if (name === '') return texts.nameMissing
  return NAME.test(name) && !/^sqlite_/i.test(name) ? undefined : texts.nameFormat
}

/** A path, such as `fields/0/name`, and what is wrong there. */
type Problem = readonly [path: string, message: string | undefined]

const defaultProblem = ({ type, defaultText }: FieldDraft) => {
  if (defaultText === '') return undefined
  const parsed = parseValue(type, defaultText)
  return 'problem' in parsed ? parsed.problem : undefined
}

const numberProblem = (text: string) => (Number.isNaN(Number(text)) ? texts.notNumber : undefined)

const limitProblems = (low: string, high: string) =>
  numberProblem(high) ?? (low !== '' && high !== '' && Number(low) > Number(high) ? texts.belowMinimum : undefined)

const checkProblems = (draft: FieldDraft, path: string): Problem[] => {
  const { type, minimum, maximum, minLength, maxLength } = draft
  const wrongLine = allowedLines(draft).find((line) => 'problem' in parseValue(type, line.trim()))
  return [
    [`${path}/check/minimum`, hasRange(type) ? numberProblem(minimum) : undefined],
    [`${path}/check/maximum`, hasRange(type) ? limitProblems(minimum, maximum) : undefined],
    [`${path}/check/minLength`, hasLength(type) ? numberProblem(minLength) : undefined],
    [`${path}/check/maxLength`, hasLength(type) ? limitProblems(minLength, maxLength) : undefined],
    [`${path}/check/enum`, wrongLine === undefined ? undefined : texts.notAllowed(wrongLine)]
  ]
}

/** Returns the problems of a field. `others`: the names that it must not have. */
export const draftProblems = (draft: FieldDraft, path: string, others: readonly string[]): Problem[] => {
  const isDuplicate = others.some((other) => other.toLowerCase() === draft.name.toLowerCase())
  const isTargetMissing = draft.targetTable !== '' && draft.targetField === ''
  return [
    [`${path}/name`, nameProblem(draft.name) ?? (isDuplicate ? texts.nameTwice(draft.name) : undefined)],
    [`${path}/defaultValue`, defaultProblem(draft)],
    [`${path}/references/field`, isTargetMissing ? texts.targetFieldMissing : undefined],
    ...checkProblems(draft, path)
  ]
}

export type Problems = ReadonlyMap<string, string>

/** Returns the messages by path. */
export const toProblems = (found: readonly Problem[]): Problems =>
  new Map(found.flatMap(([path, message]) => (message === undefined ? [] : [[path, message] as const])))

/** Returns the problems of the fields of a new table. `added`: names of fields that the service adds. */
export const fieldProblems = (drafts: readonly FieldDraft[], added: readonly string[]): Problems =>
  toProblems(
    drafts.flatMap((draft, index) => {
      const others = drafts.filter((other) => other !== draft && other.name !== '').map(({ name }) => name)
      return draftProblems(draft, `fields/${index}`, [...others, ...added])
    })
  )
