import { randomBytes } from 'node:crypto'
import { argon2id, hash, verify } from 'argon2'

/** What one hash costs: KiB of memory, passes over it, lanes. */
export interface HashingCost {
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
}

/** OWASP's lowest recommended parameters for argon2id, some 17 ms a hash; the library's own are six times that. */
const DEFAULT_COST: HashingCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const SALT_BYTES = 16
const HASH_BYTES = 32

/** The same text typed on two systems may differ in its code points; only one spelling of it is ever hashed. */
export const normalizePassword = (password: string) => password.normalize('NFC')

const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')

/** A well-formed hash that nobody knows a password of, as expensive to verify as a real one. */
const makeDecoy = ({ memoryCost, timeCost, parallelism }: HashingCost) => {
  const [salt, result] = [randomBytes(SALT_BYTES), randomBytes(HASH_BYTES)].map(unpadded)
  return `$argon2id$v=19$m=${memoryCost},p=${parallelism},t=${timeCost}$${salt}$${result}`
}

/** The parameters stand in no fixed order. */
const parameter = (stored: string, name: 'm' | 't') => Number(new RegExp(`[$,]${name}=(\\d+)`).exec(stored)?.[1])

/** Whether a password is the one of a stored hash. @throws on a stored hash that is not one. */
export type VerifyPassword = (stored: string, password: string) => Promise<boolean>

/** In this process, without regard to load. */
export const verifyPassword: VerifyPassword = (stored, password) => verify(stored, normalizePassword(password))

/** Argon2id, without regard to load: whoever answers requests goes through `createCredentials`. */
export const createPasswords = (cost: HashingCost = DEFAULT_COST, verify = verifyPassword) => {
  const isOutdated = (stored: string) =>
    parameter(stored, 'm') < cost.memoryCost || parameter(stored, 't') < cost.timeCost

  return {
    /** Stands in for the hash of a name that does not exist, so that both answers take the same time. */
    decoy: makeDecoy(cost),
    hash: (password: string): Promise<string> =>
      hash(normalizePassword(password), { type: argon2id, hashLength: HASH_BYTES, ...cost }),
    verify,
    /** Whether the hash was made at a lower cost than hashes are made at now. */
    isOutdated
  }
}
export type Passwords = ReturnType<typeof createPasswords>
