import { readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'

/** CPU seconds that all programs together have used since the machine started. */
const readAllCpu = () => cpus().reduce((sum, { times: { user, nice, sys } }) => sum + user + nice + sys, 0) / 1000

const readOwnCpu = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/**
 * Starts to measure the CPU time of other programs on this machine. Returns a function that takes the CPU seconds that
 * our child processes have used since then, and returns the share of a core that other programs have used.
 */
export const watchOtherPrograms = () => {
  const start = { time: performance.now(), all: readAllCpu(), own: readOwnCpu() }
  return (children: number) => {
    const seconds = (performance.now() - start.time) / 1000
    const others = readAllCpu() - start.all - (readOwnCpu() - start.own) - children
    return Math.max(0, others / seconds)
  }
}

const SAMPLE_MS = 100

/** Waits until other programs use at most this share of a core, or `milliseconds` have passed. Returns the time left. */
export const waitUntilQuiet = async (share: number, milliseconds: number) => {
  const end = performance.now() + milliseconds
  while (performance.now() < end) {
    const shareOfOthers = watchOtherPrograms()
    await wait(SAMPLE_MS)
    if (shareOfOthers(0) <= share) break
  }
  return Math.max(0, end - performance.now())
}

/** Returns the CPU seconds that the threads of a process have used. @throws where there is no /proc, as on macOS */
export const readProcessCpu = (pid: number) => {
  const threads = `/proc/${pid}/task`
  // The first number of schedstat is in nanoseconds: https://docs.kernel.org/scheduler/sched-stats.html
  const times = readdirSync(threads).map((thread) =>
    Number.parseInt(readFileSync(`${threads}/${thread}/schedstat`, 'utf8'), 10)
  )
  return times.reduce((sum, time) => sum + time, 0) / 1e9
}
