import { Type } from '@sinclair/typebox'

export const RETRY_KEY_PATTERN = '^[ -~]{1,255}$'

/** The header of operations that can be repeated safely. `plugins/app/retry-keys.ts` checks it. */
export const RetryHeadersSchema = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: RETRY_KEY_PATTERN,
      description:
        'A text that is different for each change, such as a UUID. If the request is repeated with the same key within 24 hours, it changes nothing and gets the first response.',
      examples: ['3f0f6d7e-6c1c-4f4e-9a3c-8f5f9b2d1a77']
    })
  )
})

export const retryResponseHeaders = {
  'Idempotency-Replayed': {
    type: 'string',
    description: '`true`: this is the response to an earlier request with the same Idempotency-Key. Otherwise absent.'
  }
}
