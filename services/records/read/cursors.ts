import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto'
import { DomainError, invalid } from '../../model/errors.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import type { Position } from '../../sql/page-ranges.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const DIGEST_BYTES = 16
/** Bytes before base64. A cursor is sent in a body of at most 64 KiB, or in a URL. */
const MAX_CURSOR_BYTES = 32 * 1024

/** Returns a value as JSON can hold it: no two values have the same form. */
export const encodeValue = (value: SqlValue): readonly string[] => {
  if (value === null) return []
  if (typeof value === 'bigint') return ['i', String(value)]
  if (typeof value === 'number') return ['r', String(value)]
  return typeof value === 'string' ? ['t', value] : ['b', Buffer.from(value).toString('base64')]
}

const decodeValue = ([type, text = '']: readonly string[]): SqlValue => {
  if (type === undefined) return null
  if (type === 'i') return BigInt(text)
  if (type === 'r') return Number(text)
  return type === 't' ? text : Buffer.from(text, 'base64')
}

const notACursor = () =>
  new DomainError('INVALID_CURSOR', 'The cursor is not valid. Send `next` of the last response unchanged.')

const otherQuery = () =>
  new DomainError('CURSOR_OF_OTHER_QUERY', 'The cursor belongs to another table, order, filter or search.', {
    hint: 'Repeat the query with the same `filter`, `q` and `order`. To begin again, leave the cursor out.'
  })

export const tooLongForCursor = () =>
  invalid(
    [{ path: '/order', code: 'length', message: 'The values of the sorted fields are too long for a cursor.' }],
    'Sort by other fields, or read pages by `page` and `size`.'
  )

/** Returns the digest of a query. A cursor is valid only for the same one. */
export const digestOf = (text: string) => hash('sha256', text, 'buffer').subarray(0, DIGEST_BYTES)

/**
 * Creates the functions that write and read cursors. A cursor is a position, encrypted because the key of a record may
 * be hidden from the caller. The key follows from the secret of the service, so that cursors survive a restart.
 */
export const createCursors = (secret: string) => {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'rowhouse cursors', KEY_BYTES))

  /** @throws VALIDATION_FAILED if the position is too long */
  const write = (digest: Buffer, position: Position): string => {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, key, nonce)
    const values = JSON.stringify(position.map(encodeValue))
    if (Buffer.byteLength(values) > MAX_CURSOR_BYTES) throw tooLongForCursor()
    const encrypted = Buffer.concat([cipher.update(digest), cipher.update(values), cipher.final()])
    return Buffer.concat([nonce, encrypted, cipher.getAuthTag()]).toString('base64url')
  }

  const decrypt = (cursor: string) => {
    const bytes = Buffer.from(cursor, 'base64url')
    if (bytes.length < NONCE_BYTES + DIGEST_BYTES + TAG_BYTES || bytes.toString('base64url') !== cursor) {
      throw notACursor()
    }
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    try {
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
    } catch {
      throw notACursor()
    }
  }

  /** @throws INVALID_CURSOR, CURSOR_OF_OTHER_QUERY */
  const read = (digest: Buffer, cursor: string): Position => {
    const content = decrypt(cursor)
    if (!content.subarray(0, DIGEST_BYTES).equals(digest)) throw otherQuery()
    const values: readonly (readonly string[])[] = JSON.parse(content.subarray(DIGEST_BYTES).toString())
    return values.map(decodeValue)
  }

  return { write, read }
}

export type Cursors = ReturnType<typeof createCursors>
