import { DomainError } from '../model/errors.ts'

/** Returns the error for every invalid credential. It does not say why the credential is invalid. */
export const invalidToken = () =>
  new DomainError(
    'INVALID_TOKEN',
    'The bearer token is missing, malformed, unknown, inactive, expired, or not accepted from this address.',
    {
      hint: 'Send the header Authorization: Bearer <token>. An administrator creates tokens with POST /admin/tokens.'
    }
  )
