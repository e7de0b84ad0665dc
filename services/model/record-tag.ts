import { hash } from 'node:crypto'

/** Characters of the digest in base64url: 132 bits. */
const TAG_LENGTH = 22

/** Returns the strong entity tag (RFC 9110, 8.8.3) of a record, with its quotes. `json`: the record as the caller sees it. */
export const recordTag = (json: string) => `"${hash('sha256', json, 'base64url').slice(0, TAG_LENGTH)}"`

const TAG = /(?:W\/)?"[^"]*"/g

/**
 * Returns the tags of a valid `If-Match` header, or undefined if it allows any record. RFC 9110, 13.1.1: a weak tag never
 * matches, so it is left out.
 */
export const strongTags = (header: string | undefined): readonly string[] | undefined => {
  if (header === undefined || header === '*') return undefined
  return Array.from(header.matchAll(TAG), ([tag]) => tag).filter((tag) => tag.startsWith('"'))
}
