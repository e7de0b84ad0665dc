import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RouteOptions } from 'fastify'
import { declaredErrors } from '../plugins/app/declarations.ts'
import type { ErrorCode } from '../schemas/error.ts'

/** The error codes that the tests have observed: one file for each test process. */
export const RECORD_DIRECTORY = join('.tap', 'observed-errors')

/** Codes of a request that no operation has handled, or that any request can get before one does. */
const GENERAL_CODES: readonly ErrorCode[] = [
  'ROUTE_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'HEADERS_TOO_LARGE',
  'REQUEST_TIMEOUT',
  'PATH_TOO_LONG',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE'
]

type Route = Pick<RouteOptions, 'method' | 'url' | 'config' | 'schema'>

const recorded = new Set<string>()

/** Writes an observed code to the record of this process, once. */
const record = (operation: string, code: ErrorCode) => {
  const line = `${operation} ${code}\n`
  if (recorded.has(line)) return
  if (recorded.size === 0) mkdirSync(RECORD_DIRECTORY, { recursive: true })
  recorded.add(line)
  appendFileSync(join(RECORD_DIRECTORY, `${process.pid}.txt`), line)
}

/** Records the code of a response. Returns false if the route does not declare it. */
export const isDeclared = (route: Route, code: ErrorCode) => {
  const { operationId } = route.schema ?? {}
  if (operationId === undefined) return true
  record(operationId, code)
  return GENERAL_CODES.includes(code) || declaredErrors(route).includes(code)
}
