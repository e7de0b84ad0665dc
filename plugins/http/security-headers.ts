/**
 * On every answer. An answer of the API is data: it may load nothing, be framed by nobody, and stay in no cache that
 * serves somebody else. Set by hand, since these never change and @fastify/helmet works them out anew for every
 * request (docs/decisions/0007-security-headers.md). HTTPS, and so HSTS, belong to the proxy in front.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-store',
  vary: 'Authorization, Cookie'
}
