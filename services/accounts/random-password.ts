import { randomBytes } from 'node:crypto'

const BYTES = 18

/** Returns a random password of 24 characters. */
export const randomPassword = () => randomBytes(BYTES).toString('base64url')
