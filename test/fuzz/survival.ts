import type { Test } from 'tap'
import type { Service } from '../service-process.ts'

/** What a service logs at its start on a fake cluster. */
const OF_CLUSTER = /^The cluster (?:has no password|is reached without TLS)/

/** Asserts that the service runs, stops cleanly on SIGTERM, and wrote only `expected` lines to standard error. */
export const expectSurvival = async (t: Test, { child, end, errorLines }: Service, expected?: RegExp) => {
  t.equal(child.exitCode ?? child.signalCode, null, 'the process is running')
  t.strictSame(await end('SIGTERM'), [0, null], 'the process ends cleanly')
  const unexpected = errorLines.filter((line) => !OF_CLUSTER.test(line) && !expected?.test(line))
  t.strictSame(unexpected, [], 'nothing unexpected on standard error')
}
