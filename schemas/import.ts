import { type Static, Type } from '@sinclair/typebox'
import { documentedAs } from './documented.ts'
import { CreatedAtSchema, Envelope, strict, UpdatedAtSchema } from './envelope.ts'
import { NewFieldSchema, newNames } from './new-table.ts'
import { Int64, NullableInt64 } from './numbers.ts'
import { TableSchema } from './table.ts'

/** The chunks of a body that is read while it arrives. */
export type BodyChunks = AsyncGenerator<Uint8Array, void, undefined>

const fileBody = (description: string, example: string) => ({
  schema: Type.Unsafe<BodyChunks>({ type: 'string', description, examples: [example] })
})

const RecordListSchema = Type.Unsafe<BodyChunks>(
  Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    title: 'TableRecordInputList',
    description: 'One array of objects. Each is a record, in the form of a create.',
    examples: [[{ name: 'Blue cup', price: 12.5 }]]
  })
)

/** The only bodies that are files. */
export const ImportBodySchema = {
  description: 'A file in UTF-8.',
  content: {
    'text/csv': fileBody(
      'CSV (RFC 4180). The first line has the names of the fields. An empty cell without quotes is null.',
      'name,price\r\nBlue cup,12.5\r\n'
    ),
    'application/x-ndjson': fileBody('One JSON object for each line.', '{"name":"Blue cup","price":12.5}\n'),
    'application/json': { schema: RecordListSchema }
  }
}

/** The header of a compressed file. `plugins/http/body-chunks.ts` reads it. */
export const GzipHeadersSchema = Type.Object({
  'Content-Encoding': Type.Optional(
    Type.String({
      description: '`gzip`: the file is compressed. Its records are limited as those of a file that is not.',
      examples: ['gzip']
    })
  )
})

const DELIMITERS = [',', ';', '|', 'tab'] as const

const csvQuery = {
  delimiter: Type.Optional(
    // Some generators make names of the values of an enum.
    documentedAs(
      Type.Unsafe<(typeof DELIMITERS)[number]>({
        type: 'string',
        enum: [...DELIMITERS],
        examples: [';'],
        description: 'Only for CSV: what separates the cells: `,`, `;`, `|` or `tab`. The default is a comma.'
      }),
      Type.String()
    )
  ),
  escape: Type.Optional(
    Type.Unsafe<'none' | 'formulas'>({
      type: 'string',
      enum: ['none', 'formulas'],
      examples: ['formulas'],
      description: "Only for CSV. `formulas` removes the leading `'` that an export with `escape=formulas` has added."
    })
  )
}

const dryRun = Type.Optional(
  Type.Boolean({ description: 'true: checks the file and stores nothing. The default is false.', examples: [true] })
)

const map = Type.Optional(
  Type.String({
    maxLength: 8192,
    contentMediaType: 'application/json',
    examples: ['{"Product name":"name","Comment":null}'],
    description:
      'The fields of names in the file that differ from those of the table, as a JSON object. null: the import ignores the column.'
  })
)

const file = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    examples: ['products.csv'],
    description: 'Name of the file, for `GET /admin/imports`.'
  })
)

export const ImportQuerySchema = Type.Object(
  {
    mode: Type.Optional(
      Type.Unsafe<'insert' | 'upsert'>({
        type: 'string',
        enum: ['insert', 'upsert'],
        examples: ['upsert'],
        description:
          '`insert` (the default) creates a record for each one of the file. `upsert` changes the record with the same key, and creates it otherwise. A token also needs the action `update`.'
      })
    ),
    on: Type.Optional(
      Type.String({
        minLength: 1,
        examples: ['sku'],
        description: 'With `mode=upsert`: the fields of a unique index, separated by commas. The default is the key.'
      })
    ),
    skip: Type.Optional(
      Int64({
        minimum: 0,
        maximum: 999_999_999_999,
        examples: [5000],
        description:
          'Goes on after this number of records, which an earlier import of the same file has stored: `storedRows` of `GET /admin/imports`. The default is 0.'
      })
    ),
    atomic: Type.Optional(
      Type.Boolean({
        examples: [true],
        description:
          'true: up to 5,000 records are stored in one transaction, all of them or none. More are refused with `TOO_MUCH_WORK`. The request may then have an `Idempotency-Key`. The default is false.'
      })
    ),
    dryRun,
    map,
    file,
    ...csvQuery
  },
  strict
)
export type ImportQuery = Static<typeof ImportQuerySchema>

const ImportResultSchema = Type.Object(
  {
    rows: Int64({ description: 'Records in the file.', examples: [2] }),
    created: Int64({ description: 'Records that were created.', examples: [2] }),
    updated: Int64({ description: 'Records that were changed.', examples: [0] }),
    atomic: Type.Boolean({
      description:
        'true: all records were stored in one transaction. false: in several, between which other changes could be stored.',
      examples: [true]
    }),
    dryRun: Type.Boolean({ description: 'true: nothing was stored.', examples: [false] })
  },
  { title: 'TableRecordImportResult', description: 'What an import has done, or, with `dryRun`, would do.', ...strict }
)
export type ImportResult = Static<typeof ImportResultSchema>

export const ImportResultEnvelope = Envelope('TableRecordImportResultEnvelope', ImportResultSchema)

const primaryKey = Type.Optional(
  Type.String({
    minLength: 1,
    examples: ['sku'],
    description:
      'The fields that become the primary key, separated by commas. No value of them may be empty, and no two records may have the same ones.'
  })
)

export const TableFileQuerySchema = Type.Object({ ...newNames, primaryKey, dryRun, map, file, ...csvQuery }, strict)

const TableFromFileSchema = Type.Object(
  {
    fields: Type.Array(NewFieldSchema, {
      description: 'The fields of the file, in the form in which `POST /admin/tables` takes them.'
    }),
    rows: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      description: 'The first 20 records of the file.',
      examples: [[{ name: 'Blue cup', price: 12.5 }]]
    }),
    created: Int64({ description: 'Records that were created, or, with `dryRun`, would be.', examples: [2] }),
    dryRun: Type.Boolean({ description: 'true: nothing was created.', examples: [false] }),
    table: Type.Optional(TableSchema)
  },
  {
    title: 'AdminTableFromFile',
    description: 'A table from a file, or, with `dryRun`, a preview of it, without `table`.',
    ...strict
  }
)
export const TableFromFileEnvelope = Envelope('AdminTableFromFileEnvelope', TableFromFileSchema)

const nullableText = (description: string, example: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, examples: [example] })

const LoggedImportSchema = Type.Object(
  {
    id: Int64({ minimum: 1, description: 'Id of the import.', examples: [3] }),
    tableId: NullableInt64({
      description: 'Id of the table. null: the import has not created its table, or stored nothing in it.',
      examples: [2]
    }),
    table: Type.String({ description: 'Name that the table had.', examples: ['products'] }),
    isNewTable: Type.Boolean({ description: 'true: the import created the table.', examples: [false] }),
    file: nullableText('Name of the file. null: the client has sent none.', 'products.csv'),
    // Without the values: some generators make names of them.
    format: Type.Unsafe<'csv' | 'ndjson' | 'json'>({
      type: 'string',
      examples: ['csv'],
      description: 'Format of the file: `csv`, `ndjson` or `json`.'
    }),
    callerKind: Type.String({
      description:
        'Who imported the file: `token`, `admin`, `key` for an admin key, or `local` for the command line on the machine of the service.',
      examples: ['token']
    }),
    callerName: Type.String({
      description: 'Name of the token, the administrator or the admin key; `local` for the command line.',
      examples: ['shop']
    }),
    state: Type.Unsafe<'running' | 'done' | 'failed' | 'interrupted'>({
      type: 'string',
      examples: ['done'],
      description:
        '`running`; `done`: all records are stored; `failed`: `error` has the reason; `interrupted`: the service ended before the import did.'
    }),
    storedRows: Int64({
      description: 'Records of the file that are stored. `skip` goes on after them.',
      examples: [5000]
    }),
    totalRows: Int64({ description: 'Records in the file.', examples: [5000] }),
    error: nullableText('Why the import failed. null: it did not fail.', 'A trigger refused the change.'),
    createdAt: CreatedAtSchema,
    updatedAt: UpdatedAtSchema
  },
  { title: 'AdminLoggedImport', description: 'An import whose file had no errors.', ...strict }
)
export type LoggedImport = Static<typeof LoggedImportSchema>

export const LoggedImportsEnvelope = Envelope(
  'AdminLoggedImportsEnvelope',
  Type.Array(LoggedImportSchema, { description: 'The latest 1,000 imports, the latest first.' })
)
