import { setImmediate as nextTick } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { bearer } from './helpers.ts'

export const METRICS_TOKEN = 'a-token-for-metrics'

/** Returns the text of `GET /metrics`. @throws with the status and the body of a failure */
export const readMetrics = async (app: Pick<FastifyInstance, 'inject'>) => {
  const response = await app.inject({ url: '/metrics', headers: bearer(METRICS_TOKEN) })
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${response.body}`)
  return response.body
}

/** Returns the values by name and labels: `{ 'rowhouse_http_requests_total{method="GET",…}': 3 }`. */
export const valuesIn = (text: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...text.matchAll(/^([a-z_]+(?:\{.*\})?) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)])
  )

/** Returns the names in the TYPE lines, sorted. */
export const namesIn = (text: string) => [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => String(name)).sort()

/** Waits until a metric has a value. A request is counted after its response was sent. */
export const untilCounted = async (app: Pick<FastifyInstance, 'inject'>, name: string, value: number) => {
  for (;;) {
    const values = valuesIn(await readMetrics(app))
    if (values[name] === value) return values
    await nextTick()
  }
}
