#!/usr/bin/env node
import { run } from './run.ts'

// Such as a full disk, or a program like `head` that has ended.
process.stdout.once('error', ({ message }) => {
  process.stderr.write(`COMMAND_FAILED: The output cannot be written: ${message}.\n`)
  process.exit(1)
})
process.exitCode = await run(process.argv.slice(2), process)
