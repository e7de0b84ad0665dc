import type { TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-filter.ts'
import { claimOf } from './claim.ts'
import { isRange, type Operator, type Rule } from './filter.ts'

const operators: Readonly<Record<Operator, string>> = texts.operators

const valueText = (value: unknown): string => {
  const claim = claimOf(value)
  if (claim !== undefined) return texts.claimNamed(claim)
  if (Array.isArray(value)) return value.map(valueText).join(', ')
  return typeof value === 'string' ? texts.quoted(value) : JSON.stringify(value)
}

const rangeText = (value: unknown) => (Array.isArray(value) ? value.map(valueText).join(texts.and) : valueText(value))

/** Returns the label of the record to which a value of a field refers; undefined if it is not known. */
export type LabelOf = (field: string, value: unknown) => string | undefined

const conditionText = (label: string, operator: string, value: unknown, record: string | undefined) => {
  if (operator === 'isNull') return `${label} ${value ? operators.isNull : operators.hasValue}`
  const plain = isRange(operator as Operator) ? rangeText(value) : valueText(value)
  const text = record === undefined ? plain : texts.record(record, plain)
  return `${label} ${operators[operator as Operator] ?? operator} ${text}`
}

const inBrackets = (text: string, parts: number) => (parts > 1 ? `(${text})` : text)

/** A filter or a rule as a sentence, such as: price is at least 5 and (stock is less than 3 or stock has no value). */
export const toSentence = (
  fields: readonly TableField[],
  filter: Rule,
  recordLabel: LabelOf = () => undefined
): string => {
  const labelOf = (name: string) => fields.find((field) => field.name === name)?.label || name
  const partsOf = ({ where = {}, via = {}, all = [], any = [], none = [] }: Rule): readonly string[] => {
    const conditions = Object.entries(where).flatMap(([name, condition]) =>
      Object.entries(condition as Record<string, unknown>).map(([operator, value]) =>
        conditionText(labelOf(name), operator, value, recordLabel(name, value))
      )
    )
    const parents = Object.entries(via).map(([name, rule]) => texts.via(labelOf(name), toSentence([], rule)))
    const required = [...conditions, ...parents, ...all.map((part) => nested(part))]
    const excluded = none.length > 0 ? [texts.none(none.map((part) => nested(part)).join(', '))] : []
    if (any.length === 0) return [...required, ...excluded]
    const choices = any.map((part) => nested(part)).join(texts.or)
    const hasOthers = required.length + excluded.length > 0
    return [...required, hasOthers ? inBrackets(choices, any.length) : choices, ...excluded]
  }
  const nested = (part: Rule) => {
    const parts = partsOf(part)
    return inBrackets(parts.join(texts.and), Math.max(parts.length, part.any?.length ?? 0))
  }
  const parts = partsOf(filter)
  return parts.length === 0 ? texts.everything : parts.join(texts.and)
}
