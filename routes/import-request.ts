import type { IncomingHttpHeaders } from 'node:http'
import { notAFile } from '../plugins/http/errors.ts'
import { parseJson } from '../plugins/http/json-body.ts'
import type { BodyChunks, ImportQuery } from '../schemas/import.ts'
import type { IntegerFormat } from '../schemas/token.ts'
import type { ImportFormat } from '../services/engine/staging/protocol.ts'
import { type DomainError, invalid } from '../services/model/errors.ts'
import { splitNames } from '../services/model/names.ts'
import type { ImportOptions } from '../services/records/import/plan.ts'

interface FileRequest {
  readonly headers: IncomingHttpHeaders
  readonly query: ImportQuery
  /** The integers that the caller sends in JSON. */
  readonly integers: IntegerFormat
}

const assertUtf8 = (parameters: readonly string[]) => {
  const charset = parameters.map((text) => /^\s*charset=\s*"?([^"]*)"?\s*$/i.exec(text)?.[1]).find(Boolean)
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) throw notAFile()
}

/** RFC 4180, section 3. @throws VALIDATION_FAILED */
const assertHeader = (parameters: readonly string[]) => {
  if (!parameters.some((text) => /^\s*header=\s*"?absent"?\s*$/i.test(text))) return
  const message = "'header=absent' is not supported: the first line of the file names its fields."
  throw invalid([{ path: '/content-type', code: 'header', message }], 'Add a line with the names of the fields.')
}

/** @throws UNSUPPORTED_MEDIA_TYPE, VALIDATION_FAILED */
const formatOf = ({ headers, query, integers }: FileRequest): ImportFormat => {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';')
  assertUtf8(parameters)
  switch (type.trim().toLowerCase()) {
    case 'text/csv': {
      assertHeader(parameters)
      const { delimiter = ',' } = query
      return {
        type: 'csv',
        delimiter: delimiter === 'tab' ? '\t' : delimiter,
        unescapesFormulas: query.escape === 'formulas'
      }
    }
    case 'application/x-ndjson':
      return { type: 'ndjson', integers }
    case 'application/json':
      return { type: 'json', integers }
    default:
      throw notAFile()
  }
}

const invalidMap = (message: string) =>
  invalid([{ path: '/map', code: 'format', message }], 'For example: map={"Product name":"name"}, percent-encoded.')

const isNames = (value: unknown): value is Record<string, string | null> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((name) => name === null || typeof name === 'string')

/** @throws VALIDATION_FAILED */
const readMap = (text: string): ImportOptions['names'] => {
  let names: unknown
  try {
    names = parseJson(Buffer.from(text), { subject: "'map'" })
  } catch (error) {
    throw invalidMap((error as DomainError).message)
  }
  if (!isNames(names)) throw invalidMap("'map' must be a JSON object whose values are names of fields, or null.")
  return names
}

const onlyWithUpsert = () =>
  invalid([{ path: '/on', code: 'unknown', message: "'on' is only for an upsert. Send `mode=upsert`, too." }])

const onlyWithAtomic = () =>
  invalid(
    [
      {
        path: '/idempotency-key',
        code: 'unknown',
        message: "An import takes an 'Idempotency-Key' only with `atomic=true`."
      }
    ],
    'Send `atomic=true`, without `dryRun`. An import with `mode=upsert` can be repeated without a key.'
  )

const noSkipWithAtomic = () =>
  invalid([
    {
      path: '/skip',
      code: 'unknown',
      message: "'skip' is not for an import with `atomic=true`: it stores all or nothing."
    }
  ])

/** Returns how a file is imported. @throws UNSUPPORTED_MEDIA_TYPE, VALIDATION_FAILED */
export const readImportRequest = (request: FileRequest): Omit<ImportOptions, 'setsReadOnly'> => {
  const { mode, on, map = '{}', atomic = false, dryRun = false, skip = 0, file = null } = request.query
  const isUpsert = mode === 'upsert'
  if (on !== undefined && !isUpsert) throw onlyWithUpsert()
  if (atomic && skip > 0) throw noSkipWithAtomic()
  if (request.headers['idempotency-key'] !== undefined && (!atomic || dryRun)) throw onlyWithAtomic()
  return {
    format: formatOf(request),
    isUpsert,
    on: on === undefined ? [] : splitNames(on),
    names: readMap(map),
    isDryRun: dryRun,
    isAtomic: atomic,
    skip,
    fileName: file
  }
}

/** Gives the body of a file its type: `readImportRequest` has checked the content type. */
export const fileOf = (body: unknown) => body as BodyChunks
