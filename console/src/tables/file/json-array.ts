import { texts } from '../../texts/from-file.ts'

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** @throws Error with a sentence, if the text is not a JSON array of objects */
const check = (text: string) => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(texts.notJson(error instanceof Error ? error.message : String(error)))
  }
  if (!Array.isArray(value)) throw new Error(texts.notArray)
  const wrong = value.findIndex((item) => item?.constructor !== Object)
  if (wrong >= 0) throw new Error(texts.notObject(wrong + 1))
}

/**
 * Returns a JSON array of objects as NDJSON: an object in each line. The values are copied as text, because JavaScript
 * would round integers beyond 2^53. @throws Error with a sentence
 */
export const toNdjson = (array: string): string => {
  const text = array.replace(/^\uFEFF/, '')
  check(text)
  let depth = 0
  const written = (text.match(TOKENS) ?? []).map((token) => {
    if (token === ']' || token === '}') depth--
    const isOuter = depth === 0 && (token === '[' || token === ']')
    const part = depth === 1 && token === ',' ? '\n' : token
    if (token === '[' || token === '{') depth++
    return isOuter ? '' : part
  })
  return `${written.join('')}\n`
}
