import { readFileSync } from 'node:fs'
import type { ServiceProcess } from '../service-process.ts'

/** Returns the resident memory of the process in MiB. */
export const residentMib = ({ child }: ServiceProcess) => {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}
