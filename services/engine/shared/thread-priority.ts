import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'

/**
 * Lets the kernel run the event loop and the writer thread before this thread. Does nothing outside of Linux, where only
 * a whole process has a priority.
 */
export const lowerThreadPriority = (platform: NodeJS.Platform = process.platform) => {
  if (platform !== 'linux') return
  // `1234/task/1250`. Linux takes the id of a thread as well as that of a process.
  const thread = Number(basename(readlinkSync('/proc/thread-self')))
  setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL)
}
