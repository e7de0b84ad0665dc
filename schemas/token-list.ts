import { type Static, Type } from '@sinclair/typebox'
import { strict } from './envelope.ts'
import { Int64 } from './numbers.ts'

/** Tokens of one response. */
export const MAX_TOKENS = 1000

export const TokensQuerySchema = Type.Object(
  {
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'Only tokens with this text in the name, the prefix or the name of the role, ignoring case.',
        examples: ['shop']
      })
    ),
    after: Type.Optional(
      Int64({
        minimum: 1,
        maximum: 999_999_999,
        description: 'Only tokens with a higher id: the id of the last token of the page before, with the same search.',
        examples: [1000]
      })
    ),
    limit: Type.Optional(
      Int64({
        minimum: 1,
        maximum: MAX_TOKENS,
        description: `Maximum number of tokens. The default is ${MAX_TOKENS}.`,
        examples: [100]
      })
    )
  },
  strict
)
export type TokensQuery = Static<typeof TokensQuerySchema>
