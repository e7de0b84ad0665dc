import { type Static, Type } from '@sinclair/typebox'
import { IdSchema, strict } from './envelope.ts'
import { INTEGER_PATTERN } from './patterns.ts'

/** Any fields. Type.Record would have a regular expression asked of each key. */
const anyFields = { type: 'object', additionalProperties: true } as const

/** A record has the fields of its table: no narrower schema is possible before a table is known. */
export const RecordSchema = Type.Unsafe<Readonly<Record<string, unknown>>>({
  ...anyFields,
  $id: 'Record',
  title: 'Record',
  description: 'One key per visible field. Integers beyond ±(2^53−1) are decimal strings.'
})

export const RecordBodySchema = Type.Unsafe<Readonly<Record<string, unknown>>>({
  ...anyFields,
  description:
    'One key per field. Integers beyond ±(2^53−1) are sent as decimal strings. A body has 20,000 keys, objects and arrays at most.'
})
export type RecordBody = Static<typeof RecordBodySchema>

export const PageSchema = Type.Object(
  {
    rows: Type.Array(RecordSchema),
    total: Type.Integer({ description: 'Matching records, over all pages.' }),
    page: Type.Integer(),
    size: Type.Integer({ description: 'The page size that was used.' })
  },
  { $id: 'Page', title: 'Page', ...strict }
)

const pageNumber = { minimum: 1, maximum: 999_999_999 }

const listQuery = {
  page: Type.Optional(Type.Integer({ ...pageNumber, description: 'From 1, which it is where it is left out.' })),
  size: Type.Optional(
    Type.Integer({
      ...pageNumber,
      description: 'Records of a page: 20 where it is left out, and no more than MAX_PAGE_SIZE.'
    })
  ),
  order: Type.Optional(
    Type.String({ description: 'Fields, comma-separated, each with a leading - for descending: `-price,name`.' })
  ),
  q: Type.Optional(
    Type.String({ maxLength: 255, description: 'Text to find in text fields, or a number to find in numeric ones.' })
  )
}

export const ListQuerySchema = Type.Object(listQuery, strict)
export type ListQuery = Static<typeof ListQuerySchema>

export const ExportQuerySchema = Type.Object(
  {
    ...listQuery,
    bom: Type.Optional(Type.Boolean({ description: 'true: a byte order mark first, for Excel.' })),
    escape: Type.Optional(Type.Boolean({ description: 'false: no guard against spreadsheet formulas.' }))
  },
  strict
)
export type ExportQuery = Static<typeof ExportQuerySchema>

/** The one answer that is no JSON. */
export const CsvSchema = {
  description: 'Records as CSV (RFC 4180, UTF-8): a header line, then a line per record.',
  content: { 'text/csv': { schema: Type.String() } }
}

const PathKeySchema = Type.String({
  description:
    'The primary key as JSON shows it. One of several fields: their values, each percent-encoded, with commas between them.'
})
const TableNameSchema = Type.String({ description: 'The name of a table, in any case.' })

export const RecordParamsSchema = Type.Object({ id: IdSchema, pk: PathKeySchema }, strict)
export const TableParamsSchema = Type.Object({ table: TableNameSchema }, strict)
export const TableRecordParamsSchema = Type.Object({ table: TableNameSchema, pk: PathKeySchema }, strict)

export const IncrementSchema = Type.Object(
  {
    pk: Type.Unsafe<string | number>({
      type: ['string', 'number'],
      description: 'The primary key, as in a path but for the encoding of the path itself.'
    }),
    field: Type.String(),
    count: Type.Optional(
      Type.Unsafe<number | string>({ type: ['number', 'string'], pattern: INTEGER_PATTERN, default: 1 })
    )
  },
  { $id: 'Increment', title: 'Increment', ...strict }
)
export type Increment = Static<typeof IncrementSchema>
