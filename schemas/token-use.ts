import { type Static, Type } from '@sinclair/typebox'
import { Envelope, strict } from './envelope.ts'
import { Int64 } from './numbers.ts'

const countSchema = (description: string, example: number) => Int64({ minimum: 0, description, examples: [example] })

const TokenUseSchema = Type.Object(
  {
    day: Type.String({
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
      description: 'The day, in UTC.',
      examples: ['2026-11-27']
    }),
    requests: countSchema('Requests that were authenticated with the token. A batch is one request.', 1250),
    refused: countSchema('Those that were refused: status 401, 403 or 429.', 3),
    failed: countSchema('Those that failed: status 500 or higher.', 0)
  },
  { title: 'TokenUse', description: 'The use of a token on one day.', ...strict }
)
export type TokenUse = Static<typeof TokenUseSchema>

export const TokenUsesEnvelope = Envelope(
  'TokenUseListEnvelope',
  Type.Array(TokenUseSchema, { description: 'The days with use, the latest first.' })
)
