/**
 * Headers of every response. Responses of the API are data: they load nothing, must not be framed, and must not be kept
 * in shared caches. These values never change; @fastify/helmet computes them for each request
 * (docs/decisions/0007-security-headers.md). HTTPS, and with it HSTS, belongs to the proxy in front.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-store',
  vary: 'Authorization, Cookie'
}
