import type { Random } from '../../fuzz/random.ts'
import type { HttpRequest } from '../http-client.ts'
import { WIDE_COLUMNS, WIDE_TABLES } from './tables.ts'

/** A request without its credential. `text`: a body that is not JSON. */
export interface HostileRequest extends HttpRequest {
  readonly text?: string
}

export type Catalogue = Record<string, (random: Random) => HostileRequest>

const MAX_OPERATIONS = 1000
/** Characters. With the rest of the body, just below the limits of bodies: 1 MiB, and 16 MiB for a batch. */
const LONG = 1_000_000
const LONGEST = 15_000_000

const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))

const post = (path: string, body: object): HostileRequest => ({ method: 'POST', path, body })
const query = (table: string, body: object) => post(`/data/${table}/query`, body)
const batch = (operations: readonly object[]) => post('/data/_batch', { operations })

/** Returns text that no other request has, so that no cache holds the result. */
const newText = (random: Random) => `t${random.below(2 ** 31).toString(36)}`

const conditions = (random: Random, count: number) =>
  times(count, () => ({ where: { title: { contains: newText(random) } } }))

/** Returns a path of references, `next_id.next_id.next_id`, that `expand` follows through wide tables. */
const references = (random: Random) => times(1 + random.below(3), () => 'next_id').join('.')

/** Returns a list of random columns: nearly every list needs another SQL text. */
const someColumns = (random: Random) =>
  times(1 + random.below(20), () => `column_${random.below(WIDE_COLUMNS)}`).filter(
    (name, index, all) => all.indexOf(name) === index
  )

const wide = (random: Random) => `wide_${random.below(WIDE_TABLES)}`

/** Expensive requests that need the action `read` only. */
const READS: Catalogue = {
  'a search that finds nothing': (random) => ({ path: `/data/items?q=${newText(random)}` }),
  'a sort without an index': (random) => ({
    path: `/data/items?order=-note,title&page=${1 + random.below(200)}&size=1000`
  }),
  'a page far behind': (random) => ({ path: `/data/items?order=title&page=${1 + random.below(900_000)}&size=1000` }),
  'a filter of 99 conditions': (random) => query('items', { filter: { any: conditions(random, 99) }, total: true }),
  'an aggregate of all records': () =>
    post('/data/items/aggregate', { groupBy: ['title'], compute: { n: { countDistinct: 'note' } }, order: '-n' }),
  'an aggregate of pairs': () => post('/data/pairs/aggregate', { groupBy: ['title'], compute: { n: { count: true } } }),
  'an endless view': () => ({ path: '/data/endless' }),
  'a sorted view of pairs': (random) => ({ path: `/data/pairs?order=-title&page=${1 + random.below(1000)}` }),
  'wide records that follow references': (random) =>
    query(wide(random), { size: 1 + random.below(250), fields: someColumns(random), expand: [references(random)] }),
  'a list of wide records with few fields': (random) => ({
    path: `/data/${wide(random)}?fields=${someColumns(random)}&expand=${references(random)}&size=${1 + random.below(1000)}`
  }),
  'a wide order': (random) => ({ path: `/data/${wide(random)}?order=${someColumns(random).slice(0, 8)}&total=false` }),
  'an export of everything': () => ({ path: '/data/items/export?order=-note' }),
  'the document of the token': () => ({ path: '/data/_openapi.json' }),
  'a page of long texts': (random) => ({ path: `/data/texts?size=1000&page=${1 + random.below(3)}` }),
  'a long text': () => ({ path: '/data/texts/records/1' }),
  'a search with the index for a rare text': (random) => ({ path: `/data/searched?q=${newText(random)}` }),
  'a search for one letter': () => ({ path: '/data/searched?q=e&order=-text' })
}

const upsertOf = (id: number, text: string) => ({ op: 'upsert', table: 'texts', values: { id, text } })

/** Expensive requests that change records. They need all actions on their tables. */
const WRITES: Catalogue = {
  'one long text': () => batch([upsertOf(1, 'x'.repeat(LONGEST))]),
  'many upserts that each return a long text': (random) =>
    batch(times(1 + random.below(700), () => ({ op: 'upsert', table: 'texts', values: { id: 1 } }))),
  'an update that returns a long text': () => ({
    method: 'PUT',
    path: '/data/texts/records/1?return=record',
    body: { text: 'x'.repeat(LONG) }
  }),
  '1,000 filters without an index': (random) =>
    batch(
      times(MAX_OPERATIONS, () => ({
        op: 'update',
        table: 'items',
        filter: { where: { title: { contains: newText(random) } } },
        maxAffected: 1,
        values: { number: 1 }
      }))
    ),
  'filters that only seem to use an index': (random) =>
    batch(
      times(50, () => ({
        op: 'update',
        table: 'items',
        filter: { all: [{ where: { id: { gte: 0 } } }, ...conditions(random, 20)] },
        maxAffected: 1,
        values: { number: 1 }
      }))
    ),
  'a filter of 99 conditions': (random) =>
    batch([{ op: 'delete', table: 'items', filter: { all: conditions(random, 99) }, maxAffected: 10_000 }]),
  'a filtered delete that cascades without an index': () =>
    batch([{ op: 'delete', table: 'parents', filter: { where: { id: { lt: 10_000 } } }, maxAffected: 10_000 }]),
  'single deletes that cascade without an index': (random) =>
    batch(times(MAX_OPERATIONS, () => ({ op: 'delete', table: 'parents', pk: String(1 + random.below(100_000)) }))),
  'one delete that cascades without an index': (random) => ({
    method: 'DELETE',
    path: `/data/parents/records/${1 + random.below(1000)}`
  }),
  'an update of many records': (random) =>
    batch([
      {
        op: 'update',
        table: 'items',
        filter: { where: { id: { gt: random.below(100_000) } } },
        maxAffected: 10_000,
        values: { note: newText(random).repeat(1000) }
      }
    ]),
  '1,000 creates': (random) =>
    batch(times(MAX_OPERATIONS, () => ({ op: 'create', table: 'items', values: { title: newText(random) } }))),
  'a long text with a search index': (random) =>
    batch(times(14, () => ({ op: 'create', table: 'searched', values: { text: newText(random).repeat(LONG / 8) } }))),
  'an import into a table with a search index': (random) => ({
    method: 'POST',
    path: '/data/searched/import',
    headers: { 'content-type': 'text/csv' },
    text: `text\n${times(20_000, () => `${newText(random)} ${newText(random)} ${newText(random)}`).join('\n')}\n`
  }),
  'an import of many records': (random) => ({
    method: 'POST',
    path: '/data/items/import',
    headers: { 'content-type': 'text/csv' },
    text: `title,number\n${times(50_000, (index) => `${newText(random)},${index}`).join('\n')}\n`
  }),
  'an increment': (random) =>
    post('/data/items/incr?return=record', { pk: String(1 + random.below(1000)), field: 'number', count: 1 })
}

/** The requests of an attack. */
export interface Choice {
  /** Whether the key has all rights on its tables, and not only that to read. */
  readonly writes: boolean
  /** Only requests whose name contains this text. */
  readonly only: string
}

export const requestsOf = ({ writes, only }: Choice): Catalogue =>
  Object.fromEntries(Object.entries(writes ? { ...READS, ...WRITES } : READS).filter(([name]) => name.includes(only)))
