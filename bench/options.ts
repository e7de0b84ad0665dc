import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'

export interface Options {
  /** The cases to run. */
  readonly names: readonly string[]
  readonly isQuick: boolean
  /** The directory for the databases, on the measured disk. */
  readonly directory: string
  /** `wrk` or `autocannon`; undefined: wrk if it is installed. */
  readonly generator: string | undefined
  /** The directory for CPU profiles of the service; undefined: no profiles. */
  readonly profiles: string | undefined
  /** A built checkout to compare this one with; undefined: no comparison. */
  readonly against: string | undefined
}

/** The names of the cases: those of a normal run, and those that `--against` can compare. */
interface Cases {
  readonly all: readonly string[]
  readonly compared: readonly string[]
}

/** Parses the command line. Without names, all cases run. @throws an Error that lists the names when one is unknown */
export const readOptions = (args: readonly string[], { all, compared }: Cases): Options => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      directory: { type: 'string', default: tmpdir() },
      generator: { type: 'string' },
      profiles: { type: 'string' },
      against: { type: 'string' }
    }
  })
  const cases = values.against === undefined ? all : compared
  const unknown = positionals.find((name) => !cases.includes(name))
  if (unknown !== undefined) throw new Error(`There is no case '${unknown}'. Cases: ${cases.join(', ')}.`)
  return {
    names: positionals.length > 0 ? positionals : cases,
    isQuick: values.quick,
    directory: values.directory,
    generator: values.generator,
    profiles: values.profiles,
    against: values.against
  }
}
