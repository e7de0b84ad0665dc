import type { Test } from 'tap'
import type { Service } from '../service-process.ts'

/** The service is still there, has complained of nothing but what is expected, and ends in order when it is told to. */
export const survives = async (t: Test, { child, end, errorLines }: Service, expected?: RegExp) => {
  t.equal(child.exitCode ?? child.signalCode, null, 'the process is alive')
  t.strictSame(await end('SIGTERM'), [0, null], 'the process ends in order')
  const surprising = errorLines.filter((line) => !expected?.test(line))
  t.strictSame(surprising, [], 'nothing unexpected on standard error')
}
