import type { TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-filter.ts'
import type { Filter, Operator } from './filter.ts'

const operators: Readonly<Record<string, string>> = texts.operators

const valueText = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(valueText).join(', ')
  return typeof value === 'string' ? texts.quoted(value) : JSON.stringify(value)
}

const conditionText = (label: string, operator: string, value: unknown) => {
  if (operator === 'isNull') return `${label} ${value ? operators.isNull : operators.hasValue}`
  return `${label} ${operators[operator as Operator] ?? operator} ${valueText(value)}`
}

const inBrackets = (text: string, parts: number) => (parts > 1 ? `(${text})` : text)

/** The filter as a sentence, such as: price is at least 5 and (stock is less than 3 or stock has no value). */
export const toSentence = (fields: readonly TableField[], filter: Filter): string => {
  const labelOf = (name: string) => fields.find((field) => field.name === name)?.label || name
  const partsOf = ({ where = {}, all = [], any = [], none = [] }: Filter): readonly string[] => [
    ...Object.entries(where).flatMap(([name, condition]) =>
      Object.entries(condition as Record<string, unknown>).map(([operator, value]) =>
        conditionText(labelOf(name), operator, value)
      )
    ),
    ...all.map((part) => nested(part)),
    ...(any.length > 0 ? [any.map((part) => nested(part)).join(texts.or)] : []),
    ...(none.length > 0 ? [texts.none(none.map((part) => nested(part)).join(', '))] : [])
  ]
  const nested = (part: Filter) => {
    const parts = partsOf(part)
    return inBrackets(parts.join(texts.and), parts.length + (part.any?.length ?? 0))
  }
  const parts = partsOf(filter)
  if (parts.length === 0) return texts.everything
  const isAnyBesideOthers = parts.length > 1 && (filter.any?.length ?? 0) > 1
  return isAnyBesideOthers
    ? parts.map((part) => (part.includes(texts.or) && !part.startsWith('(') ? `(${part})` : part)).join(texts.and)
    : parts.join(texts.and)
}
