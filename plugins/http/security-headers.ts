import type { FastifyReply, FastifyRequest } from 'fastify'
import { REQUEST_ID_HEADER } from './request-id.ts'

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

/** Sets the headers of every response: those above, and the id of the request. */
export const setCommonHeaders = ({ id }: FastifyRequest, reply: FastifyReply) => {
  reply.headers(SECURITY_HEADERS)
  reply.header(REQUEST_ID_HEADER, id)
}
