import { type Static, Type } from '@sinclair/typebox'
import { Envelope, strict, timestampSchema } from './envelope.ts'
import { Int64, NullableInt64 } from './numbers.ts'

const count = (description: string) => Int64({ minimum: 0, description, examples: [12] })
const bytes = (description: string) => Int64({ minimum: 0, description: `${description} In bytes.`, examples: [8192] })
const nullableText = (description: string, example: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, examples: [example] })

const SlowScanSchema = Type.Object(
  {
    at: timestampSchema('When the scan ended.'),
    table: Type.String({ description: 'Name of the table.', examples: ['products'] }),
    milliseconds: Int64({ minimum: 0, description: 'How long the scan took.', examples: [1250] }),
    tableRows: NullableInt64({
      description: 'The records of the table. null: they have not been counted.',
      examples: [1000000]
    }),
    filter: nullableText('The condition in SQL, with ? for each value. null: all records.', '"price" > ?'),
    order: nullableText('The order in SQL. null: none.', '"price" DESC'),
    helpfulIndex: Type.Array(Type.String(), {
      description: 'The fields of an index that would make the scan faster. Empty: none is known.',
      examples: [['price']]
    })
  },
  { title: 'ServiceSlowScan', description: 'A scan that took longer than a second.', ...strict }
)

const RequestCountsSchema = Type.Object(
  {
    received: count('All requests.'),
    refused: count('Requests that got a status from 400 to 499.'),
    failed: count('Requests that got a status from 500 to 599.'),
    aborted: count('Requests that were ended because their clients had disconnected.')
  },
  { title: 'ServiceRequestCounts', description: 'Requests since the start.', ...strict }
)

const StatusSchema = Type.Object(
  {
    version: Type.String({ description: 'Version of the service.', examples: ['0.1.0'] }),
    startedAt: timestampSchema('When the service started.'),
    databaseBytes: bytes('Size of the database file.'),
    walBytes: bytes('Size of the write-ahead log beside it.'),
    requests: RequestCountsSchema,
    slowScans: Type.Array(SlowScanSchema, { description: 'The latest 20 slow scans, the latest first.' })
  },
  { title: 'ServiceStatus', description: 'What the service does, and how much.', ...strict }
)

export type Status = Static<typeof StatusSchema>
export type RecordedScan = Static<typeof SlowScanSchema>
export const StatusEnvelope = Envelope('ServiceStatusEnvelope', StatusSchema)
