import { generatorShare, microseconds, milliseconds, othersShare, perSecond } from './report.ts'
import { median, medianOf } from './statistics.ts'

/** The figures of one case in one round. */
export interface Sample {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** CPU time of the service per request, in microseconds. */
  readonly cpuPerRequest: number
  /** The part of `cpuPerRequest` in the kernel. */
  readonly kernelPerRequest: number
  /** Share of a core that the generator used. */
  readonly generatorShare: number
  /** Share of a core that programs outside the benchmark used. */
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

/** Returns the medians of a case, in the columns of SAMPLE_HEAD. */
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

/** Returns the median, over the rounds, of a figure divided by the same figure of another case in the same round. */
export const ratioOf = (
  figure: 'perSecond' | 'p99' | 'cpuPerRequest',
  samples: readonly Sample[],
  base: readonly Sample[]
) => median(samples.map((sample, round) => sample[figure] / (base[round] as Sample)[figure]))
