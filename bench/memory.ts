import { execFileSync } from 'node:child_process'

/** Returns the bytes of resident memory, as the operating system counts them. */
export const residentMemory = (pid: number) => 1024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]))
