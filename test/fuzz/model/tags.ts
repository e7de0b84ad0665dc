import { type Model, Refusal, type Registered, type Viewer, visibleFields } from './model.ts'
import { readRow, showRow } from './records.ts'
import type { TestResponse } from './service.ts'
import type { Row } from './stored-tables.ts'

/** A record as a caller sees it. */
export interface Subject {
  readonly table: Registered
  readonly viewer: Viewer
  readonly pk: string
}

/** An entity tag, and the record that it was returned for. */
export interface Tag {
  readonly text: string
  readonly tableId: number
  readonly viewer: Viewer
  readonly pk: string
  /** The record as JSON. */
  readonly seen: string
}

const see = ({ table, viewer }: Subject, row: Row) => JSON.stringify(showRow(visibleFields(table, viewer), row))

const tagsOf = ({ tags }: Model, { table, viewer, pk }: Subject) =>
  tags.filter((tag) => tag.tableId === table.id && tag.viewer === viewer && tag.pk === pk)

/** Throws unless the tag is that of all equal states of the record, and of no other one. */
const learnTag = (model: Model, subject: Subject, row: Row, text: string | undefined) => {
  const seen = see(subject, row)
  if (text === undefined || !/^"[\w-]+"$/.test(text)) throw new Error(`${text} is not a strong entity tag.`)
  const known = tagsOf(model, subject)
  const wrong = known.find((tag) => (tag.text === text) !== (tag.seen === seen))
  if (wrong) throw new Error(`${text} is the tag of ${seen}, and ${wrong.text} that of ${wrong.seen}`)
  if (known.length > 0 && known.some((tag) => tag.seen === seen)) return
  const { table, viewer, pk } = subject
  model.tags.push({ text, tableId: table.id, viewer, pk, seen })
}

/** Returns the tag of the record as it is now, if the service has returned it. */
export const currentTag = (model: Model, subject: Subject, row: Row) =>
  tagsOf(model, subject).find(({ seen }) => seen === see(subject, row))?.text

/** Returns the tags of earlier states of the record, for any caller. */
export const staleTags = (model: Model, { table, pk }: Subject, current: string | undefined) =>
  model.tags.filter((tag) => tag.tableId === table.id && tag.pk === pk && tag.text !== current).map(({ text }) => text)

const itemsOf = (header: string) => header.split(',').map((item) => item.trim())

/** The response to a read with `If-None-Match`, which compares tags without their `W/`. */
export const readTagged = (model: Model, subject: Subject, header: string | undefined, { etag }: TestResponse) => {
  const row = readRow(model, subject.table, subject.pk)
  learnTag(model, subject, row, etag)
  const items = header === undefined ? [] : itemsOf(header).map((item) => item.replace(/^W\//, ''))
  if (items.includes('*') || items.includes(String(etag))) throw new Refusal(304, null)
  return showRow(visibleFields(subject.table, subject.viewer), row)
}

/**
 * Returns the condition `If-Match` of a change; undefined for `*`. A response with the status 412 must have the present tag if
 * the caller may read the record, and otherwise none.
 */
export const hasTag = (
  model: Model,
  subject: Subject,
  header: string,
  { etag }: TestResponse,
  mayRead: boolean
): ((row: Row) => boolean) | undefined => {
  if (header === '*') return undefined
  if (!mayRead && etag !== undefined) throw new Error('A token without the action read got a tag.')
  return (row) => {
    const current = currentTag(model, subject, row)
    if (current !== undefined && itemsOf(header).includes(current)) return true
    learnTag(model, subject, row, etag)
    return false
  }
}
