import type { JsonType } from '../../../schemas/table.ts'
import { isExactReal } from '../../model/literals.ts'
import type { SampledValue } from './file-samples.ts'

const fractionOf = (text: string) => /\.(\d+)/.exec(text)?.[1] ?? ''

/**
 * Whether the numbers keep every digit of the texts. `1.10` beside `1.9` is a version; `1.10` beside `1.90` is a price.
 */
const areNumbers = (texts: readonly string[]) => {
  const fractions = texts.map(fractionOf).filter((fraction) => fraction !== '')
  const [first = ''] = fractions
  const haveEqualLength = fractions.every(({ length }) => length === first.length)
  return texts.every(isExactReal) && (haveEqualLength || !fractions.some((fraction) => fraction.endsWith('0')))
}

const isNumeric = (type: JsonType) => type === 'integer' || type === 'number'

/** Returns the type of a field with these values. It is `string` unless every value keeps its text. */
export const typeOfValues = (values: readonly SampledValue[]): JsonType => {
  const types = [...new Set(values.map(({ type }) => type))]
  const [only = 'string', ...others] = types
  if (others.length === 0 && only !== 'number') return only
  return types.every(isNumeric) && areNumbers(values.map(({ text }) => text)) ? 'number' : 'string'
}

/** Returns what a field of this type shows for a value. Wide integers are texts in JSON. */
export const shownAs = (jsonType: JsonType, { text, value }: SampledValue): unknown => {
  if (jsonType === 'string') return text
  if (jsonType === 'boolean') return text === 'true'
  if (!isNumeric(jsonType)) return value
  const number = Number(text)
  return jsonType === 'number' || Number.isSafeInteger(number) ? number : text
}
