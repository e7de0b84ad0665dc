#!/usr/bin/env node
import { run } from './run.ts'

// A program that reads the output, such as `head`, may end first.
process.stdout.once('error', () => process.exit(1))
process.exitCode = await run(process.argv.slice(2), process)
