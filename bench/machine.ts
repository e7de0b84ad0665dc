import { cpus } from 'node:os'

/** CPU seconds that all programs together have used since the machine started. */
const usedByAll = () => cpus().reduce((sum, { times: { user, nice, sys } }) => sum + user + nice + sys, 0) / 1000

const usedByUs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/**
 * Starts to watch what else runs on this machine. The function that it gives tells the share of a core that other
 * programs have used since, when it hears how many CPU seconds our child processes have.
 */
export const watchOthers = () => {
  const start = { time: performance.now(), all: usedByAll(), us: usedByUs() }
  return (children: number) => {
    const seconds = (performance.now() - start.time) / 1000
    const others = usedByAll() - start.all - (usedByUs() - start.us) - children
    return Math.max(0, others / seconds)
  }
}
