import type { RecordReader } from './csv-records.ts'
import { createJsonArrayReader } from './json-array-records.ts'
import type { OnObject } from './json-objects.ts'
import { createNdjsonReader } from './ndjson-records.ts'
import type { ImportFormat } from './protocol.ts'

/** A format whose records are JSON objects. */
export type ObjectFormat = Exclude<ImportFormat['type'], 'csv'>

const READERS = { json: createJsonArrayReader, ndjson: createNdjsonReader }

export const createObjectReader = (format: ObjectFormat, onObject: OnObject): RecordReader => READERS[format](onObject)
