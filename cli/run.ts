import { CommanderError } from 'commander'
import { loadEnvironmentFile } from '../config.ts'
import { errorText } from './output.ts'
import { createProgram } from './program.ts'
import type { Terminal } from './terminal.ts'

/** Exit codes. docs/reference/command-line.md has them, too. */
const FAILED = 1
const WRONG_USAGE = 2

/** Returns the exit code of an error of the library. Help and version are no errors. */
const codeOfUsage = ({ exitCode }: CommanderError) => (exitCode === 0 ? 0 : WRONG_USAGE)

/** Runs one command. Returns the exit code of the process. */
export const run = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    loadEnvironmentFile()
    await createProgram(terminal).parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return codeOfUsage(error)
    terminal.stderr.write(`${errorText(error as Error, args.includes('--json'))}\n`)
    return FAILED
  }
}
