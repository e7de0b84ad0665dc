import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** HS256 requires a key that is as long as its output (RFC 7518, 3.2). */
const MIN_SECRET_BYTES = 32
const MAX_PERIOD = 16
const OTHERS_PERMISSIONS = 0o077

const PLACEHOLDER =
  /(change|replace|fill)[-_ ]?(me|this|it)|your[-_ ]?(jwt[-_ ]?|own[-_ ]?)?secret|super[-_ ]?secret|placeholder|example|insecure/i

/** Detects repeated text such as `changemechangeme…` or `0000…`. */
const isRepetition = (text: string) =>
  Array.from({ length: MAX_PERIOD }, (_, index) => index + 1).some(
    (period) => 2 * period <= text.length && text.slice(period) === text.slice(0, -period)
  )

/** @throws an Error with the name `source` and the reason, if sessions signed with the secret could be forged */
export const assertSecret = (secret: string, source: string) => {
  const advice = 'Use a random secret, such as the output of `openssl rand -hex 32`.'
  if (Buffer.byteLength(secret) < MIN_SECRET_BYTES) {
    throw new Error(`${source} is shorter than ${MIN_SECRET_BYTES} bytes. ${advice}`)
  }
  if (PLACEHOLDER.test(secret) || isRepetition(secret)) throw new Error(`${source} can be guessed. ${advice}`)
}

const assertPrivate = (file: string) => {
  if ((statSync(file).mode & OTHERS_PERMISSIONS) === 0) return
  throw new Error(
    `${file} can be read or written by other users. Run \`chmod 600\` on it, or delete it to create a new one.`
  )
}

/** Writes to a new file first: after a crash, a partial secret would prevent the next start. */
const createSecret = (file: string) => {
  const temporary = `${file}-${randomUUID()}`
  const secret = randomBytes(MIN_SECRET_BYTES).toString('hex')
  writeFileSync(temporary, `${secret}\n`, { mode: 0o600, flush: true, flag: 'wx' })
  renameSync(temporary, file)
}

const readText = (file: string) => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`${file} cannot be read (${code}). Give this user the permission to read it, or set JWT_SECRET.`)
  }
}

const pathOfSecret = (dataDir: string) => join(dataDir, 'secret')

/**
 * Returns the secret of the data directory. Creates it at the first start.
 * @throws an Error with the reason if the secret is not safe
 */
export const readOrCreateSecret = (dataDir: string): string => {
  const file = pathOfSecret(dataDir)
  if (!existsSync(file)) createSecret(file)
  assertPrivate(file)
  const secret = readText(file).trim()
  assertSecret(secret, file)
  return secret
}

interface SecretOptions {
  /** The secret of the configuration; undefined: the one in the data directory. */
  readonly JWT_SECRET?: string | undefined
  readonly DATA_DIR: string
}

/**
 * Returns the secret that signs session cookies, and from which the key of cursors is derived. With the secret, a
 * session of any administrator can be forged.
 * @throws an Error with the reason if the secret is not safe
 */
export const readSecret = ({ JWT_SECRET, DATA_DIR }: SecretOptions): string => {
  if (JWT_SECRET === undefined) return readOrCreateSecret(DATA_DIR)
  assertSecret(JWT_SECRET, 'JWT_SECRET')
  return JWT_SECRET
}

/** Checks the secret without creating one. @throws an Error with the reason if the secret is not safe */
export const checkSecret = (options: SecretOptions) => {
  if (options.JWT_SECRET !== undefined || existsSync(pathOfSecret(options.DATA_DIR))) readSecret(options)
}
