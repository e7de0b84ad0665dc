import { run } from './run.ts'

process.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A program like `head`, which reads no more, is no failure to report. A full disk is one.
  if (code !== 'EPIPE') process.stderr.write(`COMMAND_FAILED: The output cannot be written: ${message}.\n`)
  process.exit(1)
})
process.exitCode = await run(process.argv.slice(2), process)
