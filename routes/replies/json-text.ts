import type { FastifyReply } from 'fastify'
import { matchesTag } from '../../plugins/http/etag.ts'
import { done } from '../../schemas/envelope.ts'
import type { ReturnQuery } from '../../schemas/record.ts'
import { createGarbageCount } from '../../services/engine/shared/garbage.ts'
import { MIN_COUNTED_CHARACTERS } from '../../services/engine/shared/unread-text.ts'
import { tooMuchUnread } from '../../services/model/errors.ts'
import { recordTag, strongTags } from '../../services/model/record-tag.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import type { ChangeOptions } from '../../services/records/change/operations.ts'
import type { Upserted } from '../../services/records/change/upserts.ts'
import { recordPath } from '../path-key.ts'
import { type Unread, unreadOf } from './unread.ts'

const countLargeGarbage = createGarbageCount()

/** What a response is counted as. */
type Count = keyof Pick<Unread, 'addRead' | 'addChange'>

/** Counts a large response until it is sent or its connection closes. The connection may be closed already. */
const countUnread = (reply: FastifyReply, { length }: string, count: Count) => {
  if (length <= MIN_COUNTED_CHARACTERS || reply.raw.destroyed) return
  const { caller } = reply.request
  const add = unreadOf(reply)[count]
  add(caller, length)
  reply.raw.once('close', () => {
    add(caller, -length)
    countLargeGarbage(length)
  })
}

/**
 * Checks, before a change that returns a record, that clients read the large responses to changes. The writer thread checks
 * it again when it knows the size of the record.
 * @throws OVERLOADED
 */
export const assertRoomForResponse = (reply: FastifyReply) => {
  if (!unreadOf(reply).hasRoomForChange(reply.request.caller)) throw tooMuchUnread()
}

/** Returns JSON text in the success envelope, for a handler to return. */
const okJson = (reply: FastifyReply, json: string, count: Count): never => {
  countUnread(reply, json, count)
  reply.type('application/json; charset=utf-8')
  // The boundary to handler types, which expect an object. Parsing the text would round 64-bit integers, and a response
  // schema would drop the fields of the table.
  return `{"success":true,"data":${json}}` as never
}

/** Returns the JSON text of a stored change. Never throws, because the change is stored already. */
const okStored = (reply: FastifyReply, json: string): never => okJson(reply, json, 'addChange')

/** Where a new record is. Known before the change, because a change that is stored must not fail. */
export interface RecordPlace {
  readonly table: RegisteredTable
  /** The path of the records of the table. */
  readonly recordsPath: string
  /** Whether the caller can read the record: the tag reveals its values. */
  readonly isReadable: boolean
}

const setTag = (reply: FastifyReply, record: string) => reply.header('etag', recordTag(record))

const setLocation = (reply: FastifyReply, { recordsPath, table }: RecordPlace, record: string) => {
  const path = recordPath(recordsPath, table, record)
  if (path !== undefined) reply.header('location', path)
}

/** Returns the response to a create, for a handler to return. `record`: JSON text. */
export const okCreated = (reply: FastifyReply, record: string, place: RecordPlace) => {
  if (place.isReadable) setTag(reply, record)
  setLocation(reply, place, record)
  return okStored(reply, record)
}

/** Returns the response to an upsert, for a handler to return. */
export const okUpserted = (reply: FastifyReply, { created, record }: Upserted, place: RecordPlace) => {
  if (place.isReadable) setTag(reply, record)
  if (created) setLocation(reply, place, record)
  return okStored(reply, `{"created":${created},"record":${record}}`)
}

/** Returns the response to a batch, for a handler to return. */
export const okBatch = (reply: FastifyReply, results: readonly string[]) =>
  okStored(reply, `{"results":[${results.join(',')}]}`)

/**
 * Returns JSON text made by SQLite in the success envelope, for a handler to return.
 * @throws OVERLOADED if the text is large and clients have not read too many earlier responses
 */
export const okText = (reply: FastifyReply, json: string): never => {
  const { length } = json
  if (length > MIN_COUNTED_CHARACTERS && !unreadOf(reply).hasRoomForRead(reply.request.caller, length)) {
    throw tooMuchUnread()
  }
  return okJson(reply, json, 'addRead')
}

/**
 * Returns a record with its tag, for a handler to return, or 304 if the client has it.
 * @throws OVERLOADED: see `okText`
 */
export const okRecord = (reply: FastifyReply, json: string): never => {
  const etag = recordTag(json)
  if (matchesTag(reply.request.headers['if-none-match'], etag)) {
    return reply.code(304).header('etag', etag).send() as never
  }
  const text = okText(reply, json)
  reply.header('etag', etag)
  return text
}

/**
 * Returns the options of a change, with the tags of the header `If-Match`.
 * @throws OVERLOADED if it returns a record: see `assertRoomForResponse`
 */
export const changeOptions = (reply: FastifyReply, query: ReturnQuery): ChangeOptions => {
  const returnsRecord = query.return === 'record'
  if (returnsRecord) assertRoomForResponse(reply)
  return { returnsRecord, ifMatch: strongTags(reply.request.headers['if-match']) }
}

/** Returns the response to a delete, with its record as JSON text if it has one, for a handler to return. */
export const okDeleted = (reply: FastifyReply, record: string | undefined) =>
  record === undefined ? done() : okStored(reply, `{"success":true,"record":${record}}`)

/** Returns the response to an update or an increment: like `okDeleted`, with the new tag of the record. */
export const okChanged = (reply: FastifyReply, record: string | undefined) => {
  if (record !== undefined) setTag(reply, record)
  return okDeleted(reply, record)
}
