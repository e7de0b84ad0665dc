import closeWithGrace from 'close-with-grace'
import { type Config, readConfig } from './config.ts'
import { startOpening } from './plugins/app/database.ts'
import type { FirstAdmin } from './services/accounts/admins.ts'

/**
 * Milliseconds that requests in flight get to finish after SIGTERM, and that everything gets until the process ends.
 */
const DRAIN_MS = 5000
const GRACE_MS = 9000
const IDLE_CHECK_MS = 50
/**
 * Connections that may wait to be accepted, where the system allows as many: of 2,000 at once, Node's 511 let some be
 * reset.
 */
const BACKLOG = 4096

const say = (...lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`)
const warn = (...lines: string[]) => process.stderr.write(`${lines.join('\n')}\n`)

const introduce = ({ name, generatedPassword, isPasswordShort }: FirstAdmin, { PASSWORD_MIN_LENGTH }: Config) => {
  if (generatedPassword !== null) {
    say(
      '',
      'The first administrator. This is shown once:',
      `  name      ${name}`,
      `  password  ${generatedPassword}`,
      ''
    )
  }
  if (isPasswordShort) {
    warn(`ADMIN_PASSWORD is shorter than ${PASSWORD_MIN_LENGTH} characters. Change it: PUT /auth/password.`)
  }
}

/** Anybody who reaches the machine reaches the service. */
const EVERY_ADDRESS = ['0.0.0.0', '::']

/** No address of a machine, or none of this one. */
const NO_ADDRESS = ['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL']

const explainListening = (error: NodeJS.ErrnoException, { HOST, PORT }: Config) => {
  const { code = '' } = error
  if (code === 'EADDRINUSE') {
    return new Error(`${HOST}:${PORT} is taken (EADDRINUSE). Set PORT to another; 0 takes a free one.`)
  }
  if (NO_ADDRESS.includes(code)) return new Error(`HOST names ${HOST}, which is no address of this machine (${code}).`)
  return error
}

const start = async () => {
  const config = readConfig(process.env)
  let report: (cause: Error) => unknown = (cause) => warn(`Rowhouse does not start: ${cause.message}`)
  const onDeath = (cause: Error) => {
    report(cause)
    // Requests under way have been answered with 503; their answers leave before the process does.
    setTimeout(() => process.exit(1), 100)
  }
  // The thread of the database starts while the rest of the program is loaded: a fifth of a cold start.
  const opening = startOpening({ config, onDeath })
  const [{ buildApp }, { createVerifier }] = await Promise.all([
    import('./app.ts'),
    import('./services/accounts/verifier.ts')
  ])
  const logger = { level: config.LOG_LEVEL, stream: process.stderr }
  const app = await buildApp({ config, logger, onDeath, opening, verifyPassword: createVerifier() })
  report = (cause) =>
    app.log.fatal({ err: cause }, 'The database engine has stopped. The process ends, to be started again.')
  if (app.firstAdmin) introduce(app.firstAdmin, config)
  const address = await app.listen({ host: config.HOST, port: config.PORT, backlog: BACKLOG }).catch(async (error) => {
    await app.close()
    if (app.firstAdmin?.generatedPassword) warn('The administrator above has been made; keep the password.')
    throw explainListening(error, config)
  })
  const reach = EVERY_ADDRESS.includes(config.HOST) ? '   (and at every other address of this machine)' : ''
  say(`Rowhouse listens at ${address}   docs: ${address}/docs${reach}`)

  closeWithGrace({ delay: GRACE_MS, logger: false }, async ({ err }) => {
    if (err) app.log.fatal({ err }, 'An error that nobody caught. The process ends.')
    // Node closes the connections that are idle now; those that become idle later would be kept alive.
    const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS)
    const drain = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
    await app.close()
    clearInterval(idle)
    clearTimeout(drain)
  })
}

try {
  await start()
} catch (error) {
  warn(`Rowhouse does not start: ${(error as Error).message}`)
  // Whatever has been started by then, a thread of the database say, ends with the process.
  process.exit(1)
}
