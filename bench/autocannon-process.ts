import { createHistogram } from 'node:perf_hooks'
import autocannon from 'autocannon'
import { headersOf, type Load, type LoadResult } from './load.ts'

/** autocannon records latencies in whole milliseconds; most of ours are shorter than one. */
const latencies = createHistogram()

const every = <T>(items: readonly T[], step: number, offset: number) =>
  items.filter((_, index) => index % step === offset)

const sendAll = (options: autocannon.Options) =>
  new Promise<autocannon.Result>((resolve, reject) => {
    const load = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)))
    load.on('response', (_client, _status, _bytes, milliseconds) => {
      latencies.record(Math.max(1, Math.round(milliseconds * 1000)))
    })
  })

const generate = async ({ address, token, requests, connections, seconds }: Load): Promise<LoadResult> => {
  let started = 0
  const cpu = process.cpuUsage()
  const result = await sendAll({
    url: address,
    connections,
    duration: seconds,
    setupClient: (client) => {
      const clientRequests = every(requests, connections, started++)
      client.setRequests(clientRequests.map((request) => ({ ...request, headers: headersOf(token, request) })))
    }
  })
  const { user, system } = process.cpuUsage(cpu)
  return {
    completed: result.requests.total,
    seconds: result.duration,
    p50: latencies.percentile(50) / 1000,
    p99: latencies.percentile(99) / 1000,
    cpuSeconds: (user + system) / 1e6,
    failures: result.non2xx + result.errors
  }
}

process.once('message', async (load: Load) => {
  process.send?.(await generate(load))
  process.disconnect()
})
