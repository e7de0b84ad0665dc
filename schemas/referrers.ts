import { type Static, Type } from '@sinclair/typebox'
import { Envelope, strict } from './envelope.ts'
import { Int64 } from './numbers.ts'

const names = (description: string, example: string) =>
  Type.Array(Type.String(), { description, examples: [[example]] })

export const ReferrerSchema = Type.Object(
  {
    table: Type.String({ description: 'Name of the table whose records refer to this one.', examples: ['orders'] }),
    fields: names('Its fields that refer to this record: a foreign key.', 'customer_id'),
    targetFields: names('The fields of this record to which they refer.', 'id'),
    count: Int64({ description: 'Number of its records that refer to this one.', examples: [2] })
  },
  {
    title: 'TableRecordReferrer',
    description: 'The records of a table that refer to a record by a foreign key.',
    ...strict
  }
)
export type Referrer = Static<typeof ReferrerSchema>

export const ReferrersEnvelope = Envelope(
  'TableRecordReferrersEnvelope',
  Type.Array(ReferrerSchema, {
    description: 'One entry for each foreign key to this table whose fields you can read.'
  })
)
