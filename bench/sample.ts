import { generatorShare, microseconds, milliseconds, othersShare, perSecond } from './report.ts'
import { median, medianOf } from './statistics.ts'

/** What one case did while it was measured once. */
export interface Sample {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** CPU time of the service for one request, in microseconds. */
  readonly cpuPerRequest: number
  /** What of it the kernel took. */
  readonly kernelPerRequest: number
  /** Of a core. */
  readonly generatorShare: number
  /** Of a core, used by programs that have nothing to do with the benchmark. */
  readonly othersShare: number
}

export const SAMPLE_HEAD = [
  'case',
  'requests/s',
  'p50 ms',
  'p99 ms',
  'CPU µs/request',
  'in kernel',
  'generator',
  'others'
]

/** The medians of a case, under SAMPLE_HEAD. */
export const sampleRow = (name: string, samples: readonly Sample[]) => [
  name,
  perSecond(medianOf(samples, 'perSecond')),
  milliseconds(medianOf(samples, 'p50')),
  milliseconds(medianOf(samples, 'p99')),
  microseconds(medianOf(samples, 'cpuPerRequest')),
  microseconds(medianOf(samples, 'kernelPerRequest')),
  generatorShare(medianOf(samples, 'generatorShare')),
  othersShare(medianOf(samples, 'othersShare'))
]

/** How a figure compares with the same figure of another case in the same round: the median of the ratios. */
export const ratioOf = (figure: 'perSecond' | 'p99', samples: readonly Sample[], base: readonly Sample[]) =>
  median(samples.map((sample, round) => sample[figure] / (base[round] as Sample)[figure]))
