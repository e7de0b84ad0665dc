import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'

export interface Options {
  /** What to run; everything where nothing is named. */
  readonly names: readonly string[]
  readonly isQuick: boolean
  /** Where the databases go: the disk that is measured. */
  readonly directory: string
  /** `wrk` or `autocannon`; undefined: wrk where it is installed. */
  readonly generator: string | undefined
  /** Where the service leaves CPU profiles; undefined: it makes none. */
  readonly profiles: string | undefined
}

/** The command line. @throws an Error that lists the names when one is unknown */
export const readOptions = (args: readonly string[], known: readonly string[]): Options => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      directory: { type: 'string', default: tmpdir() },
      generator: { type: 'string' },
      profiles: { type: 'string' }
    }
  })
  const unknown = positionals.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`There is no case '${unknown}'. Cases: ${known.join(', ')}.`)
  return {
    names: positionals.length > 0 ? positionals : known,
    isQuick: values.quick,
    directory: values.directory,
    generator: values.generator,
    profiles: values.profiles
  }
}
