import { Transform } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { SingleBar } from 'cli-progress'
import type { Terminal } from './terminal.ts'

export interface Progress {
  /** Passes the bytes of a file on, and counts them. */
  readonly stream: Transform
  stop(): void
}

const MIB = 2 ** 20
const toMib = (bytes: number) => Math.round((bytes / MIB) * 10) / 10

const WITH_SIZE = '{bar} {percentage} %  {value} of {total} MiB'
const WITHOUT_SIZE = '{value} MiB'

const POLL_MS = 200

const createBar = ({ stderr }: Terminal, size: number | null) => {
  const format = size === null ? WITHOUT_SIZE : WITH_SIZE
  const bar = new SingleBar({ format, stream: stderr as NodeJS.WritableStream, clearOnComplete: true })
  bar.start(toMib(size ?? 0), 0)
  return bar
}

/** Shows the bytes of a file on a terminal. Shows nothing elsewhere. `size` is null if it is not known. */
export const createProgress = (terminal: Terminal, size: number | null): Progress => {
  const bar = terminal.stderr.isTTY ? createBar(terminal, size) : undefined
  let bytes = 0
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      bar?.update(toMib(bytes))
      done(null, chunk)
    }
  })
  return { stream, stop: () => bar?.stop() }
}

interface Copied {
  /** Bytes; 0 if it is not known yet. */
  readonly value: number
  readonly total: number
}

const NOTHING: Copied = { value: 0, total: 0 }

/** Shows on a terminal how far a task is, until it has ended. Returns its result. */
export const showWhile = async <T>(terminal: Terminal, task: Promise<T>, read: () => Promise<Copied>): Promise<T> => {
  if (!terminal.stderr.isTTY) return task
  const bar = createBar(terminal, 0)
  const ended = task.then(
    () => true,
    () => true
  )
  while (!(await Promise.race([ended, delay(POLL_MS, false)]))) {
    // The task has a better error than the request for its progress.
    const { value, total } = await read().catch(() => NOTHING)
    bar.setTotal(toMib(total))
    bar.update(toMib(value))
  }
  bar.stop()
  return task
}
