import { Readable, Writable } from 'node:stream'
import type { Test } from 'tap'
import { run } from '../../cli/run.ts'
import type { Terminal } from '../../cli/terminal.ts'
import { listenLocally } from '../../plugins/app/local-socket.ts'
import { createDatabase, startApp } from '../helpers.ts'

interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly stdin?: string
  /** Whether standard output is a terminal. */
  readonly isTTY?: boolean
  /** The same for standard error. */
  readonly isErrorTTY?: boolean
}

const createOutput = (isTTY: boolean) => {
  let text = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      done()
    }
  })
  return { stream: Object.assign(stream, { isTTY, columns: 80 }), text: () => text }
}

/** Runs one command in this process. Returns its exit code and its output. */
export const runCommand = async (args: readonly string[], options: CommandOptions = {}) => {
  const { env = {}, stdin = '', isTTY = false, isErrorTTY = isTTY } = options
  const [stdout, stderr] = [createOutput(isTTY), createOutput(isErrorTTY)]
  const terminal: Terminal = {
    env,
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: stdout.stream,
    stderr: stderr.stream
  }
  const code = await run(args, terminal)
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

export const SHOP = `CREATE TABLE products (sku TEXT PRIMARY KEY, title TEXT NOT NULL, price REAL);
  INSERT INTO products VALUES ('pen', 'Fountain pen', 24.5), ('ink', 'Ink', 8)`

/** Starts a service of a file, with its local socket. Returns the options with which commands find it. */
export const startLocalService = async (t: Test, env: Record<string, string> = {}) => {
  const file = createDatabase(t, SHOP)
  const app = await startApp(t, { env: { DATABASE: file, ...env } })
  const closeSocket = await listenLocally(app)
  t.teardown(closeSocket)
  const directory = ['--data-dir', app.config.DATA_DIR]
  return { app, file, directory, options: [...directory, '--database', file] }
}
