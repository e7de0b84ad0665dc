import { CommanderError } from 'commander'
import { loadEnvironmentFile } from '../config.ts'
import { errorText, UsageError, usageText } from './output.ts'
import { createProgram } from './program.ts'
import type { Terminal } from './terminal.ts'

/** Exit codes. docs/reference/command-line.md has them, too. */
const FAILED = 1
const WRONG_USAGE = 2

/** Returns the exit code of an error of the library. Help and version are no errors. */
const codeOfUsage = ({ exitCode }: CommanderError) => (exitCode === 0 ? 0 : WRONG_USAGE)

/** Runs one command. Returns the exit code of the process. */
export const run = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  const isJson = args.includes('--json')
  const printError = (text: string) => terminal.stderr.write(`${text}\n`)
  try {
    loadEnvironmentFile()
    await createProgram(terminal, { isJson }).parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      printError(errorText(terminal, error as Error, isJson))
      return error instanceof UsageError ? WRONG_USAGE : FAILED
    }
    const code = codeOfUsage(error)
    if (isJson && code === WRONG_USAGE) printError(usageText(error.message))
    return code
  }
}
