import { characterOf, type Delimiter, guessDelimiter } from '../../api/delimiter.ts'
import type { FileFormat } from '../../api/upload.ts'
import { texts } from '../../texts/transfer.ts'
import { parseDelimited } from './delimited.ts'
import { objectsIn } from './json-array.ts'

/** A file to import, and what its beginning shows. */
export interface Source {
  readonly file: File
  readonly format: FileFormat
  readonly delimiter: Delimiter
  /** The text of the beginning. */
  readonly start: string
}

/** What is read to show the names of the columns. The service reads all of the file. */
const START_BYTES = 256 * 1024

const isObject = (line: string) => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** A first line that is longer than the beginning is not complete. */
const isNdjson = (start: string) => {
  const [line = '', ...others] = start.trimStart().split('\n')
  return isObject(line) || (line.startsWith('{') && others.length === 0 && start.length >= START_BYTES / 4)
}

/** @throws Error for JSON that is neither NDJSON nor an array */
const formatOf = ({ name }: File, start: string): FileFormat => {
  if (isNdjson(start) || /\.(?:ndjson|jsonl)$/i.test(name)) return 'ndjson'
  if (/^\s*\[/.test(start)) return 'json'
  if (/\.json$/i.test(name) || /^\s*\{/.test(start)) throw new Error(texts.notRecords)
  return 'csv'
}

export const openSource = async (file: File): Promise<Source> => {
  const start = (await file.slice(0, START_BYTES).text()).replace(/^\uFEFF/, '')
  return { file, format: formatOf(file, start), delimiter: guessDelimiter(start), start }
}

export interface Column {
  readonly name: string
  readonly example: string
}

const parseObject = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** `objects`: the JSON texts of records. They may have different names. */
const objectColumns = (objects: readonly string[]): readonly Column[] => {
  const records = objects.slice(0, 100).map(parseObject)
  const names = [...new Set(records.flatMap(Object.keys))]
  return names.map((name) => ({ name, example: JSON.stringify(records.find((record) => name in record)?.[name]) }))
}

const csvColumns = ({ start, delimiter }: Source): readonly Column[] => {
  const [headers = [], first = []] = parseDelimited(start, characterOf(delimiter))
  return headers.map((name, index) => ({ name, example: first[index] ?? '' }))
}

export const columnsOf = (source: Source) => {
  const { format, start } = source
  if (format === 'csv') return csvColumns(source)
  return objectColumns(format === 'json' ? objectsIn(start) : start.split('\n'))
}
