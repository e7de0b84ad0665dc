import { setImmediate } from 'node:timers/promises'
import type { BodyChunks } from '../../../schemas/import.ts'
import type { JsonType } from '../../../schemas/table.ts'
import { createCsvReader, type RecordReader } from '../../engine/staging/csv-records.ts'
import { createObjectReader, type ObjectFormat } from '../../engine/staging/object-readers.ts'
import type { ImportFormat } from '../../engine/staging/protocol.ts'
import { unescapeFormula } from '../../model/kinds/csv-cells.ts'
import type { CsvCell } from '../../model/kinds/kind.ts'
import { kindOf } from '../../model/kinds/kind-of.ts'
import { toColumn } from '../../tables/changes/field-rules.ts'

/** A value of a file. `value`: what JSON has; a cell has its text only. */
export interface SampledValue {
  readonly type: JsonType
  readonly text: string
  readonly value?: unknown
}

type SampledRecord = ReadonlyMap<string, SampledValue>

/** The first records of a file. Values that are null are left out. */
export interface FileSample {
  readonly names: readonly string[]
  readonly records: readonly SampledRecord[]
}

const MAX_SAMPLED_RECORDS = 1000
/** Bytes. They are read on the event loop. */
export const MAX_SAMPLED_BYTES = 256 * 1024

const parsesAs = (cell: CsvCell, jsonType: JsonType) => {
  const column = toColumn({ name: '', jsonType })
  return 'value' in kindOf(column).parseCell(cell, column)
}

/** Digits that are too many for an integer are a text, such as the number of an account. */
const typeOfCell = (cell: CsvCell): JsonType => {
  if (parsesAs(cell, 'integer')) return 'integer'
  if (parsesAs(cell, 'boolean')) return 'boolean'
  return parsesAs(cell, 'number') && !/^-?\d+$/.test(cell.text) ? 'number' : 'string'
}

const sampledCell = (cell: CsvCell): SampledValue => ({ type: typeOfCell(cell), text: cell.text })

/** `value`: of JSON, and not null. A `bigint` is a wide integer. */
const typeOfJson = (value: unknown): JsonType => {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number'
  return typeof value as 'boolean' | 'string' | 'object'
}

const sampledValue = (value: unknown): SampledValue => ({
  type: typeOfJson(value),
  text: typeof value === 'object' ? '' : String(value),
  value
})

/** Returns the values of an object. */
const sampledObject = (record: object): SampledRecord => {
  const values = Object.entries(record).filter(([, value]) => value !== null)
  return new Map(values.map(([name, value]) => [name, sampledValue(value)]))
}

interface Sampler {
  readonly reader: RecordReader
  readonly names: () => readonly string[]
  readonly records: readonly SampledRecord[]
}

const sampleCsv = ({ delimiter, unescapesFormulas }: ImportFormat & { type: 'csv' }): Sampler => {
  const readCell = (cell: CsvCell) => (unescapesFormulas ? { ...cell, text: unescapeFormula(cell.text) } : cell)
  const records: SampledRecord[] = []
  let names: readonly string[] | undefined

  const sampledCells = (header: readonly string[], cells: readonly CsvCell[]) =>
    header.flatMap((name, index) => {
      const cell = cells[index]
      return cell && (cell.text !== '' || cell.isQuoted) ? [[name, sampledCell(readCell(cell))] as const] : []
    })
  const reader = createCsvReader(delimiter, (_line, cells) => {
    if (!names) names = cells.length > 0 ? cells.map((cell) => readCell(cell).text) : undefined
    else if (cells.length > 0 || names.length === 1) records.push(new Map(sampledCells(names, cells)))
  })
  return { reader, names: () => names ?? [], records }
}

const sampleObjects = (type: ObjectFormat): Sampler => {
  const names = new Set<string>()
  const records: SampledRecord[] = []
  const reader = createObjectReader(type, (_line, record) => {
    for (const name of Object.keys(record)) names.add(name)
    records.push(sampledObject(record))
  })
  return { reader, names: () => [...names], records }
}

/** Returns all chunks of a body whose first ones have been read. */
async function* withFirst(first: readonly Uint8Array[], rest: BodyChunks): BodyChunks {
  try {
    yield* first
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

/** Reads the first records of a file. `body`: the whole file. @throws UnreadableFile */
export const readSample = async (format: ImportFormat, chunks: BodyChunks) => {
  const { reader, names, records } = format.type === 'csv' ? sampleCsv(format) : sampleObjects(format.type)
  const first: Uint8Array[] = []
  let size = 0

  const readNext = async () => {
    const { done, value } = await chunks.next()
    if (done) {
      await reader.end()
      return false
    }
    first.push(value)
    await reader.write(value.subarray(0, MAX_SAMPLED_BYTES - size))
    size += value.length
    return size < MAX_SAMPLED_BYTES && records.length < MAX_SAMPLED_RECORDS
  }

  while (await readNext()) {}
  // The parser of CSV emits its last records after it has accepted their chunk.
  await setImmediate()
  const sample: FileSample = { names: names(), records: records.slice(0, MAX_SAMPLED_RECORDS) }
  return { sample, body: withFirst(first, chunks) }
}
