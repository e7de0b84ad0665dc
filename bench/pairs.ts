import { atLeast, MAX_OTHERS_SHARE, othersShare, perSecond, preciseRatio, type Target, verdict } from './report.ts'
import { median, medianInterval } from './statistics.ts'

/** No case may be more than 3 % slower than in the other build. */
const MIN_RATIO = 0.97

/** The figures of one build in one round. */
export interface Round {
  readonly perSecond: number
  /** CPU time of the service per request, in microseconds. */
  readonly cpuPerRequest: number
  /** Share of a core that programs outside the benchmark used. */
  readonly othersShare: number
}

/** A round of each build, one directly after the other. */
export interface Pair {
  readonly own: Round
  readonly other: Round
}

const disturbance = ({ own, other }: Pair) => Math.max(own.othersShare, other.othersShare)

export const isQuiet = (pair: Pair) => disturbance(pair) <= MAX_OTHERS_SHARE

/** Returns the `count` pairs during which other programs used the least CPU time. */
export const selectQuietest = (pairs: readonly Pair[], count: number) =>
  pairs.toSorted((a, b) => disturbance(a) - disturbance(b)).slice(0, count)

const medianRatio = (pairs: readonly Pair[], figure: 'perSecond' | 'cpuPerRequest') =>
  median(pairs.map(({ own, other }) => own[figure] / other[figure]))

const judge = (ratio: number, disturbed: number): Target => {
  const notJudged = disturbed > MAX_OTHERS_SHARE ? 'other programs were busy, measure again' : undefined
  return { ...atLeast(ratio, MIN_RATIO), notJudged }
}

export const COMPARISON_HEAD = [
  'case',
  'this/s',
  'other/s',
  'this/other',
  '95 % interval',
  'CPU this/other',
  'others',
  'target'
]

/** Returns the figures of a case in the columns of COMPARISON_HEAD, from the pairs of each process. */
export const comparisonRow = (name: string, processes: readonly (readonly Pair[])[]) => {
  const pairs = processes.flat()
  const ratio = medianRatio(pairs, 'perSecond')
  const { lower, upper } = medianInterval(processes.map((ofProcess) => medianRatio(ofProcess, 'perSecond')))
  const disturbed = median(pairs.map(disturbance))
  return [
    name,
    perSecond(median(pairs.map(({ own }) => own.perSecond))),
    perSecond(median(pairs.map(({ other }) => other.perSecond))),
    preciseRatio(ratio),
    `${preciseRatio(lower)} to ${preciseRatio(upper)}`,
    preciseRatio(medianRatio(pairs, 'cpuPerRequest')),
    othersShare(disturbed),
    verdict(judge(ratio, disturbed))
  ]
}
