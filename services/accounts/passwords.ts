import { randomBytes } from 'node:crypto'
import { argon2id, hash, verify } from 'argon2'

/** The cost of one hash: KiB of memory, passes over the memory, lanes. */
export interface HashingCost {
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
}

/** OWASP's minimum for argon2id: about 17 ms a hash. The library's defaults take six times as long. */
const DEFAULT_COST: HashingCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const SALT_BYTES = 16
const HASH_BYTES = 32

/** Two systems may encode the same typed text as different code points. Only the NFC form is hashed. */
export const normalizePassword = (password: string) => password.normalize('NFC')

const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')

/** Returns a valid hash without a known password. Verifying it takes as long as for a real hash. */
const createDummyHash = ({ memoryCost, timeCost, parallelism }: HashingCost) => {
  const [salt, result] = [randomBytes(SALT_BYTES), randomBytes(HASH_BYTES)].map(unpadded)
  return `$argon2id$v=19$m=${memoryCost},p=${parallelism},t=${timeCost}$${salt}$${result}`
}

/** Reads one parameter of a hash. Their order is not fixed. */
const parameter = (stored: string, name: 'm' | 't') => Number(new RegExp(`[$,]${name}=(\\d+)`).exec(stored)?.[1])

/** Returns whether a password matches a stored hash. @throws if the stored text is not a hash */
export type VerifyPassword = (stored: string, password: string) => Promise<boolean>

/** Verifies in this process, without a limit on the load. */
export const verifyPassword: VerifyPassword = (stored, password) => verify(stored, normalizePassword(password))

/** Hashes with argon2id, without a limit on the load. Code that serves requests must use `createCredentials`. */
export const createPasswords = (cost: HashingCost = DEFAULT_COST, verify = verifyPassword) => {
  const isOutdated = (stored: string) =>
    parameter(stored, 'm') < cost.memoryCost || parameter(stored, 't') < cost.timeCost

  return {
    /** Verified if a name does not exist, so that the response takes the same time. */
    dummyHash: createDummyHash(cost),
    hash: (password: string): Promise<string> =>
      hash(normalizePassword(password), { type: argon2id, hashLength: HASH_BYTES, ...cost }),
    verify,
    /** Returns whether the hash has a lower cost than new hashes have. */
    isOutdated
  }
}
export type Passwords = ReturnType<typeof createPasswords>
