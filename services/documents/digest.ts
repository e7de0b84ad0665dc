import { createHash } from 'node:crypto'

/** Returns the SHA-256 of the text in hexadecimal digits. */
export const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')
