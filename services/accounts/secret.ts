import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** HS256 wants a key as long as its output (RFC 7518, 3.2). */
const SHORTEST_SECRET_BYTES = 32
const LONGEST_PERIOD = 16
const OTHERS_PERMISSIONS = 0o077

const PLACEHOLDER =
  /(change|replace|fill)[-_ ]?(me|this|it)|your[-_ ]?(jwt[-_ ]?|own[-_ ]?)?secret|super[-_ ]?secret|placeholder|example|insecure/i

/** `changemechangeme…`, `0000…`: text that goes on as it began. */
const isRepetition = (text: string) =>
  Array.from({ length: LONGEST_PERIOD }, (_, index) => index + 1).some(
    (period) => 2 * period <= text.length && text.slice(period) === text.slice(0, -period)
  )

/** @throws an Error with the reason when sessions signed with the secret could be forged. `source` names it there. */
export const assertSecret = (secret: string, source: string) => {
  const advice = 'Use a random one, for instance the output of `openssl rand -hex 32`.'
  if (Buffer.byteLength(secret) < SHORTEST_SECRET_BYTES) {
    throw new Error(`${source} is shorter than ${SHORTEST_SECRET_BYTES} bytes. ${advice}`)
  }
  if (PLACEHOLDER.test(secret) || isRepetition(secret)) throw new Error(`${source} can be guessed. ${advice}`)
}

const assertPrivate = (file: string) => {
  if ((statSync(file).mode & OTHERS_PERMISSIONS) === 0) return
  throw new Error(`${file} can be read or written by others. Run \`chmod 600\` on it, or delete it to get a new one.`)
}

/** Under another name first: a crash on the way must not leave half a secret, which would stop the next start. */
const createSecret = (file: string) => {
  const unfinished = `${file}.new`
  writeFileSync(unfinished, `${randomBytes(SHORTEST_SECRET_BYTES).toString('hex')}\n`, { mode: 0o600, flush: true })
  renameSync(unfinished, file)
}

/**
 * The secret that session cookies are signed with, made at the first start. Whoever reads it can log in as anybody.
 * @throws an Error with the reason when it cannot be trusted.
 */
export const readOrCreateSecret = (dataDir: string): string => {
  const file = join(dataDir, 'secret')
  if (!existsSync(file)) createSecret(file)
  assertPrivate(file)
  const secret = readFileSync(file, 'utf8').trim()
  assertSecret(secret, file)
  return secret
}
