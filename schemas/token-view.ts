import { type Static, Type } from '@sinclair/typebox'
import { Envelope, strict, timestampSchema } from './envelope.ts'

const ViewSchema = Type.Object(
  {
    token: Type.String({
      pattern: '^rhv_',
      description: 'A bearer for /data. It begins with `rhv_` and is no longer than 1,000 characters.',
      examples: ['rhv_eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIyIn0.4c1d52ab']
    }),
    expiresAt: timestampSchema('Time at which the view ends.')
  },
  { title: 'TokenView', description: 'A bearer that reads what a token reads, for ten minutes.', ...strict }
)
export type View = Static<typeof ViewSchema>
export const ViewEnvelope = Envelope('TokenViewEnvelope', ViewSchema)
