#!/usr/bin/env node
import { run } from './run.ts'

process.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A program that reads the output, such as `head`, may end first.
  if (code !== 'EPIPE') process.stderr.write(`COMMAND_FAILED: The output cannot be written: ${message}.\n`)
  process.exit(1)
})
process.exitCode = await run(process.argv.slice(2), process)
