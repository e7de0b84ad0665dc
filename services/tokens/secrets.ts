import { hash, randomBytes } from 'node:crypto'

/** Hexadecimal digits that listings show. */
const SHOWN_DIGITS = 8

/** A new secret, with what is stored of it. */
export interface NewSecret {
  readonly secret: string
  readonly digest: string
  /** The first characters, then asterisks. */
  readonly mask: string
}

export const digestOf = (secret: string) => hash('sha256', secret)

/** Returns the prefix with 64 hexadecimal digits behind it, of 32 random bytes. */
export const createSecret = (prefix: string): NewSecret => {
  const secret = `${prefix}${randomBytes(32).toString('hex')}`
  return { secret, digest: digestOf(secret), mask: `${secret.slice(0, prefix.length + SHOWN_DIGITS)}********` }
}
