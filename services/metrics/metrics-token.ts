import { createHash, timingSafeEqual } from 'node:crypto'
import { DomainError } from '../model/errors.ts'
import { bearerOf } from '../tokens/bearer.ts'

const digestOf = (text: string) => createHash('sha256').update(text).digest()

/**
 * Returns a function that checks an Authorization header. It compares digests, so that the time of a comparison depends neither
 * on the length of the secret nor on its characters.
 */
export const createMetricsTokenCheck = (token: string) => {
  const expected = digestOf(token)

  /** @throws INVALID_TOKEN */
  return (header = '') => {
    if (timingSafeEqual(digestOf(bearerOf(header) ?? ''), expected)) return
    throw new DomainError('INVALID_TOKEN', 'The bearer token is not METRICS_TOKEN.', {
      hint: 'Send the header Authorization: Bearer <token>, with the METRICS_TOKEN of the service.'
    })
  }
}
