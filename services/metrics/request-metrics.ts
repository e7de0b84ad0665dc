import type { ErrorCode } from '../../schemas/error.ts'
import { createHistogram } from './histogram.ts'
import type { Metrics } from './metrics.ts'

/** A request whose response was sent. */
export interface SentResponse {
  readonly method: string
  /** The route as it is declared: `/data/:table/records/:pk`. undefined: no route has the path. */
  readonly route: string | undefined
  readonly status: number
  readonly seconds: number
  /** The code of a failure. */
  readonly code: ErrorCode | null
}

/** Upper bounds in seconds. A scan may take 30 s. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

interface RouteCounts {
  readonly method: string
  readonly route: string
  /** The number of responses at the first digit of their status. */
  readonly byClass: number[]
  readonly durations: ReturnType<typeof createHistogram>
}

/** Creates the function that counts responses. It adds to plain numbers, because it runs for each request. */
export const createRequestMetrics = ({ add, addHistogram }: Pick<Metrics, 'add' | 'addHistogram'>) => {
  const counts = new Map<string, RouteCounts>()
  const failures = new Map<ErrorCode, number>()
  addHistogram({
    name: 'rowhouse_http_request_duration_seconds',
    help: 'Time from the first hook of a request to the end of its response.',
    labels: ['method', 'route'],
    read: () =>
      [...counts.values()].map(({ method, route, durations }) => ({
        labels: { method, route },
        buckets: durations.read()
      }))
  })
  add({
    type: 'counter',
    name: 'rowhouse_http_requests_total',
    help: 'Responses that were sent, by route and class of the status.',
    labels: ['method', 'route', 'status'],
    read: () =>
      [...counts.values()].flatMap(({ method, route, byClass }) =>
        byClass
          .map((value, digit) => ({ labels: { method, route, status: `${digit}xx` }, value }))
          .filter(({ value }) => value > 0)
      )
  })
  add({
    type: 'counter',
    name: 'rowhouse_http_errors_total',
    help: 'Responses with an error, by its code.',
    labels: ['code'],
    read: () => [...failures].map(([code, value]) => ({ labels: { code }, value }))
  })

  const begin = (method: string, route: string): RouteCounts => ({
    method,
    route,
    byClass: [0, 0, 0, 0, 0, 0],
    durations: createHistogram(BUCKETS)
  })

  return ({ method, route = 'unknown', status, seconds, code }: SentResponse) => {
    const key = `${method} ${route}`
    const found = counts.get(key) ?? begin(method, route)
    counts.set(key, found)
    const digit = Math.floor(status / 100)
    found.byClass[digit] = Number(found.byClass[digit]) + 1
    found.durations.observe(seconds)
    if (code) failures.set(code, (failures.get(code) ?? 0) + 1)
  }
}
