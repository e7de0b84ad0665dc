import { readFileSync } from 'node:fs'
import type { ServiceProcess } from '../service-process.ts'

/** MiB that the process has in memory. */
export const residentMib = ({ child }: ServiceProcess) => {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}
