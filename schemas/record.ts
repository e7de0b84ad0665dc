import { type Static, Type } from '@sinclair/typebox'
import { Envelope, IdSchema, strict } from './envelope.ts'
import { INTEGER_PATTERN } from './patterns.ts'

/** Type.Record would match each key with a regular expression. */
const anyFields = { type: 'object', additionalProperties: true } as const

/** The fields are those of the table, which is known only when a request arrives. */
export const RecordSchema = Type.Unsafe<Readonly<Record<string, unknown>>>({
  ...anyFields,
  $id: 'Record',
  title: 'Record',
  description:
    'One property for each visible field. Integers beyond ±(2^53−1) are decimal text, and BLOBs are base64 text.'
})

export const RecordBodySchema = Type.Unsafe<Readonly<Record<string, unknown>>>({
  ...anyFields,
  description:
    'One property for each field to set. Send integers beyond ±(2^53−1) as decimal text, and BLOBs as base64 text. A body can have at most 20,000 keys, objects and arrays.'
})
export type RecordBody = Static<typeof RecordBodySchema>

export const PageSchema = Type.Object(
  {
    rows: Type.Array(RecordSchema),
    total: Type.Integer({ description: 'Number of matching records on all pages.' }),
    page: Type.Integer(),
    size: Type.Integer({ description: 'Maximum number of records of the page, at most MAX_PAGE_SIZE.' })
  },
  { $id: 'Page', title: 'Page', ...strict }
)

/** The response to an update, an increment or a delete. */
export const RecordChangedSchema = Envelope(
  Type.Object(
    {
      success: Type.Literal(true),
      record: Type.Optional(RecordSchema)
    },
    { $id: 'RecordChanged', title: 'RecordChanged', description: '`record`: only with `return=record`.', ...strict }
  )
)

export const ReturnQuerySchema = Type.Object(
  {
    return: Type.Optional(
      Type.Unsafe<'record'>({
        type: 'string',
        enum: ['record'],
        description:
          '`record`: the response contains the record after the change, or as it was before a delete. A token also needs the action `read`.'
      })
    )
  },
  strict
)
export type ReturnQuery = Static<typeof ReturnQuerySchema>

const pageParameter = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 999_999_999, description }))

const selection = {
  order: Type.Optional(
    Type.String({
      description: 'At most 8 fields, separated by commas. A leading `-` means descending: `-price,name`.'
    })
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Text to find in text fields, ignoring the case of ASCII letters. A number also finds equal numbers.'
    })
  )
}

export const ListQuerySchema = Type.Object(
  {
    page: pageParameter('Number of the page. The default is 1.'),
    size: pageParameter('Records of a page. The default is 20. A value above MAX_PAGE_SIZE is reduced to it.'),
    ...selection
  },
  strict
)
export type ListQuery = Static<typeof ListQuerySchema>

export const ExportQuerySchema = Type.Object(
  {
    page: pageParameter('Number of the page. Without `page` and `size`, all matching records are exported.'),
    size: pageParameter('Records of the page. A value above MAX_PAGE_SIZE is reduced to it.'),
    ...selection,
    bom: Type.Optional(Type.Boolean({ description: 'true: begins the file with a byte order mark, for Excel.' })),
    escape: Type.Optional(
      Type.Unsafe<'none' | 'formulas'>({
        type: 'string',
        enum: ['none', 'formulas'],
        description:
          "`none` (the default) exports every text as it is stored. `formulas` adds a leading `'` to texts that a spreadsheet could take for a formula, and to texts that are quotes followed by a formula. Removing one `'` restores the value."
      })
    )
  },
  strict
)
export type ExportQuery = Static<typeof ExportQuerySchema>

/** The only response that is not JSON. */
export const CsvSchema = {
  description: 'Records as CSV (RFC 4180, UTF-8): a header line, then one line for each record.',
  content: { 'text/csv': { schema: Type.String() } }
}

const KEY = 'The primary key. For a key of several fields: the values, each percent-encoded, separated by commas.'

const PathKeySchema = Type.String({ description: KEY })
const TableNameSchema = Type.String({ description: 'Name of the table, ignoring case.' })

export const RecordParamsSchema = Type.Object({ id: IdSchema, pk: PathKeySchema }, strict)
export const TableParamsSchema = Type.Object({ table: TableNameSchema }, strict)
export const TableRecordParamsSchema = Type.Object({ table: TableNameSchema, pk: PathKeySchema }, strict)

export const IncrementSchema = Type.Object(
  {
    pk: Type.Unsafe<string | number>({
      type: ['string', 'number'],
      description: KEY
    }),
    field: Type.String({ description: 'Name of a numeric field that is neither the key nor read-only.' }),
    count: Type.Optional(
      Type.Unsafe<number | string>({
        type: ['number', 'string'],
        pattern: INTEGER_PATTERN,
        default: 1,
        description: 'Number to add. Send integers beyond ±(2^53−1) as decimal text.'
      })
    )
  },
  { $id: 'Increment', title: 'Increment', ...strict }
)
export type Increment = Static<typeof IncrementSchema>
