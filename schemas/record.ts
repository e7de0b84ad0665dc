import { type Static, Type } from '@sinclair/typebox'
import { documentedAs } from './documented.ts'
import { Envelope, strict, TableIdSchema } from './envelope.ts'
import { Double, Int32, Int64 } from './numbers.ts'
import { IF_MATCH_PATTERN, INTEGER_PATTERN, MAX_IF_MATCH_TAGS } from './patterns.ts'

/** Type.Record would match each key with a regular expression. */
const anyFields = { type: 'object', additionalProperties: true } as const

/** The fields are those of the table, which is known only when a request arrives. */
export const RecordSchema = Type.Unsafe<Readonly<Record<string, unknown>>>({
  ...anyFields,
  title: 'TableRecord',
  description:
    'One property for each visible field. Integers beyond ±(2^53−1) are decimal text, and BLOBs are base64 text.',
  examples: [{ id: 7, name: 'Blue cup', price: 12.5, stock: 40 }]
})

export const RecordBodySchema = Type.Unsafe<Readonly<Record<string, unknown>>>({
  ...anyFields,
  title: 'TableRecordInput',
  description:
    'One property for each field to set. Send integers beyond ±(2^53−1) as decimal text, and BLOBs as base64 text. A body can have at most 20,000 keys, objects and arrays.',
  examples: [{ name: 'Blue cup', price: 12.5, stock: 40 }]
})
export type RecordBody = Static<typeof RecordBodySchema>

const PageSchema = Type.Object(
  {
    rows: Type.Array(RecordSchema, { description: 'The records of the page.' }),
    total: Int64({
      description: 'Number of matching records on all pages; -1 with `total=false`.',
      examples: [1]
    }),
    page: Int32({ description: 'Number of the page.', examples: [1] }),
    size: Int32({ description: 'Maximum number of records of the page, at most MAX_PAGE_SIZE.', examples: [20] }),
    next: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'The cursor of the next page; null on the last one. Only with `cursor`.',
        examples: ['aGn0Yk1zVfJw3v6hQm2Cq8Xr']
      })
    )
  },
  { title: 'TableRecordPage', description: 'One page of the matching records.', ...strict }
)

export const RecordEnvelope = Envelope('TableRecordEnvelope', RecordSchema)
export const PageEnvelope = Envelope('TableRecordPageEnvelope', PageSchema)

/** The response to an update, an increment or a delete. */
export const RecordChangedSchema = Envelope(
  'TableRecordChangeEnvelope',
  Type.Object(
    {
      success: Type.Boolean({ description: 'true: the record was changed.', examples: [true] }),
      record: Type.Optional(RecordSchema)
    },
    { title: 'TableRecordChange', description: '`record`: only with `return=record`.', ...strict }
  )
)

/** The response to an update or an increment, with the header of `return=record`. */
export const RecordTaggedChangeSchema = {
  ...RecordChangedSchema,
  headers: {
    ETag: { type: 'string', description: 'The new tag of the record. Only with `return=record`.' }
  }
}

/** The response to a create. */
export const RecordCreatedSchema = {
  ...RecordEnvelope,
  headers: {
    ETag: {
      type: 'string',
      description: 'The tag of the record. Only for callers that can read it.'
    },
    Location: {
      type: 'string',
      description:
        'The path of the new record. Absent if an upsert has changed a record, and for keys that no path can have.'
    }
  }
}

export const ReturnQuerySchema = Type.Object(
  {
    return: Type.Optional(
      Type.Unsafe<'record'>({
        type: 'string',
        enum: ['record'],
        examples: ['record'],
        description:
          '`record`: the response contains the record after the change, or as it was before a delete. A token also needs the action `read`.'
      })
    )
  },
  strict
)
export type ReturnQuery = Static<typeof ReturnQuerySchema>

export const CreateQuerySchema = Type.Object(
  {
    upsert: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The fields that identify the record, separated by commas: the primary key, or those of a unique index. If the record exists, its sent fields are changed. The response is then `{"created", "record"}`.',
        examples: ['sku']
      })
    ),
    return: Type.Optional(
      Type.Unsafe<'record'>({
        type: 'string',
        enum: ['record'],
        examples: ['record'],
        description: '`record`: changes nothing, because the response always contains the record.'
      })
    )
  },
  strict
)

export const CreateHeadersSchema = Type.Object({
  'If-None-Match': Type.Optional(
    Type.String({
      description: 'Only with `upsert`. `*`: creates the record, and fails with 412 if it exists.',
      examples: ['*']
    })
  )
})

const TAG_EXAMPLE = '"sMPYLLsQHLbLbZGfPGUWwA"'

export const IfMatchHeadersSchema = Type.Object({
  'If-Match': Type.Optional(
    documentedAs(
      Type.String({
        pattern: IF_MATCH_PATTERN,
        description: `The \`ETag\` of a read of the record, or up to ${MAX_IF_MATCH_TAGS}, separated by commas. If the record has another tag now, or you may not read it, nothing is changed and the response is 412. \`*\` allows any record.`,
        examples: [TAG_EXAMPLE]
      }),
      Type.String()
    )
  )
})

export const IfNoneMatchHeadersSchema = Type.Object({
  'If-None-Match': Type.Optional(
    Type.String({
      description: 'The `ETag` of an earlier read. The response is 304 if the record is still the same.',
      examples: [TAG_EXAMPLE]
    })
  )
})

const tagHeaders = {
  ETag: { type: 'string', description: 'Identifies this content of the record.' }
}

/** The responses to a read of one record. */
export const recordResponses = {
  200: { ...RecordEnvelope, headers: tagHeaders },
  304: Type.Null({ description: 'The record is still the same. The response has no body.', headers: tagHeaders })
}

const pageParameter = (example: number, description: string) =>
  Type.Optional(Int32({ minimum: 1, maximum: 999_999_999, description, examples: [example] }))

const selection = {
  order: Type.Optional(
    Type.String({
      description:
        'At most 8 fields, separated by commas. A leading `-` means descending: `-price,name`. `supplier_id.city` is a field of the record to which `supplier_id` refers.',
      examples: ['-price,name']
    })
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        'Text to find in text fields, ignoring the case of all letters with one lower and one upper form. A number also finds equal numbers.',
      examples: ['cup']
    })
  )
}

/** The parameters that lists and queries have in common. */
export const listQuery = {
  size: pageParameter(50, 'Records of a page. The default is 20. A value above MAX_PAGE_SIZE is reduced to it.'),
  ...selection
}

/** In a query string, a filter is JSON text. */
const filterParameters = {
  filter: Type.Optional(
    Type.String({
      maxLength: 4096,
      contentMediaType: 'application/json',
      description: 'A filter as JSON text, with the form of `filter` in a query.',
      examples: ['{"where":{"price":{"gte":10}}}']
    })
  ),
  fields: Type.Optional(
    Type.String({
      description:
        'The fields of the records, separated by commas. The key is always one of them. Empty: only the key.',
      examples: ['name,price']
    })
  )
}

/** Not closed: `checkParameters` names the fields of the table in the hint for an unknown parameter. */
export const ListQuerySchema = Type.Object({
  page: pageParameter(2, 'Number of the page. The default is 1.'),
  ...listQuery,
  ...filterParameters,
  expand: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Fields with `references`, separated by commas. Each record gets the records that they refer to. `supplier_id(name,city)` adds only these fields and the key.',
      examples: ['supplier_id']
    })
  ),
  cursor: Type.Optional(
    Type.String({
      description: 'Empty for the first page, then `next` of the previous response. Not together with `page`.',
      examples: ['']
    })
  ),
  total: Type.Optional(
    Type.Boolean({
      description: 'false: does not count the matching records, so `total` is -1. The default is true.',
      examples: [true]
    })
  )
})
export type ListQuery = Static<typeof ListQuerySchema>

/** Not closed: see `ListQuerySchema`. */
export const ExportQuerySchema = Type.Object({
  page: pageParameter(2, 'Number of the page. Without `page` and `size`, all matching records are exported.'),
  size: pageParameter(50, 'Records of the page. A value above MAX_PAGE_SIZE is reduced to it.'),
  ...selection,
  ...filterParameters,
  format: Type.Optional(
    Type.Unsafe<'csv' | 'ndjson'>({
      type: 'string',
      enum: ['csv', 'ndjson'],
      examples: ['csv'],
      description:
        '`csv` is the default. `ndjson`: each line is the JSON of one record, as in a list, and there is no header line.'
    })
  ),
  bom: Type.Optional(
    Type.Boolean({
      description: 'Only for CSV. true: begins the file with a byte order mark, for Excel.',
      examples: [true]
    })
  ),
  escape: Type.Optional(
    Type.Unsafe<'none' | 'formulas'>({
      type: 'string',
      enum: ['none', 'formulas'],
      examples: ['formulas'],
      description:
        "Only for CSV. `none` (the default) exports every text as it is stored. `formulas` adds a leading `'` to texts that a spreadsheet could take for a formula, and to texts that are quotes followed by a formula. Removing one `'` restores the value."
    })
  )
})
export type ExportQuery = Static<typeof ExportQuerySchema>

const CSV_EXAMPLE = 'id,name,price\r\n7,Blue cup,12.5\r\n'
const NDJSON_EXAMPLE = '{"id":7,"name":"Blue cup","price":12.5}\n'

const linesOf = (example: string) => ({ schema: Type.String({ examples: [example] }) })

/** The only response that is not one JSON text. */
export const ExportSchema = {
  description:
    'Records in UTF-8, one line for each. CSV (RFC 4180) begins with a header line. NDJSON has the records as JSON, as in a list. It is compressed if the request accepts gzip.',
  content: { 'text/csv': linesOf(CSV_EXAMPLE), 'application/x-ndjson': linesOf(NDJSON_EXAMPLE) }
}

const KEY = 'The primary key. For a key of several fields: the values, each percent-encoded, separated by commas.'

const PathKeySchema = Type.String({ description: KEY, examples: ['7'] })
const TableNameSchema = Type.String({ description: 'Name of the table, ignoring case.', examples: ['products'] })

export const RecordParamsSchema = Type.Object({ id: TableIdSchema, pk: PathKeySchema }, strict)
export const TableParamsSchema = Type.Object({ table: TableNameSchema }, strict)
export const TableRecordParamsSchema = Type.Object({ table: TableNameSchema, pk: PathKeySchema }, strict)

/** The service checks the form of a key: generators do not understand unions. */
export const BodyKeySchema = Type.Unknown()
export const BODY_KEY_FORMS = 'Also a number, a list of the values, or an object: `{"OrderID": 1, "ProductID": 2}`.'

const addition = {
  field: Type.String({
    description: 'Name of a numeric field that is neither the key nor read-only.',
    examples: ['stock']
  }),
  count: Type.Optional(
    documentedAs(
      Type.Unsafe<number | string>({ type: ['number', 'string'], pattern: INTEGER_PATTERN }),
      Double({
        description: 'Number to add. The default is 1. Integers beyond ±(2^53−1) are accepted as decimal text.',
        examples: [-1]
      })
    )
  )
}

/** The body of an increment with the key in its path. */
export const AdditionSchema = Type.Object(addition, {
  title: 'TableRecordAddition',
  description: 'The field and the number to add.',
  ...strict
})

export const IncrementSchema = Type.Object(
  {
    pk: documentedAs(BodyKeySchema, Type.String({ description: `${KEY} ${BODY_KEY_FORMS}`, examples: ['7'] })),
    ...addition
  },
  { title: 'TableRecordIncrement', description: 'The record, the field and the number to add.', ...strict }
)
export type Increment = Static<typeof IncrementSchema>
