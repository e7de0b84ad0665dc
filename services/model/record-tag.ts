import { hash } from 'node:crypto'

/** Characters of the digest in base64url: 132 bits. */
const TAG_LENGTH = 22

/** Returns the strong entity tag (RFC 9110, 8.8.3) of a record, with its quotes. `json`: the record as the caller sees it. */
export const recordTag = (json: string) => `"${hash('sha256', json, 'base64url').slice(0, TAG_LENGTH)}"`
