import t from 'tap'
import { PASSWORD } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { createClient, type HttpRequest } from './http-client.ts'
import { percentile, repeatUntil, summary } from './waits.ts'

/** Bars for a machine with nothing else to do: docs/reliability.md. A busy one is slower, so only a long run has them. */
const isLong = scaled(10) >= 10
/** Milliseconds of each attack. */
const ATTACK_MS = isLong ? 30_000 : 200
const FILMS = isLong ? 99_000 : 8000
const OWNERS = 1000
const PETS = isLong ? 60_000 : 5000
const MAX_P99_MS = 100
const MAX_MS = 500

const service = await startService(t)
// Each attack takes its time twice if the service is slow.
t.setTimeout(20 * ATTACK_MS + 120_000)
const attacker = createClient(t, service, 8)
const other = createClient(t, service, 2)
const cookie = await other.logIn('admin', PASSWORD)
const asAdmin = { headers: cookie, method: 'POST' }

const createTable = (name: string, fields: readonly object[]) =>
  other.dataOf({ ...asAdmin, path: '/admin/tables', body: { name, label: '', fields } })

await createTable('own', [{ name: 'n', jsonType: 'integer' }])
await createTable('films', [
  { name: 'title', jsonType: 'string' },
  { name: 'note', jsonType: 'string' }
])
await createTable('owners', [{ name: 'name', jsonType: 'string' }])
await createTable('pets', [{ name: 'owner', jsonType: 'integer', references: { table: 'owners', field: 'id' } }])
const { id: texts } = await createTable('texts', [{ name: 'body', jsonType: 'string' }])
await other.dataOf({ ...asAdmin, method: 'PUT', path: `/admin/tables/${texts}`, body: { searchIndex: true } })

const issue = async (tables: readonly string[]) => {
  const body = { name: 'a', permissions: { tables, actions: ['read', 'create', 'update', 'delete'] } }
  const { token } = await other.dataOf({ ...asAdmin, path: '/admin/tokens', body })
  return { authorization: `Bearer ${token}` }
}
const hostile = await issue(['films', 'owners', 'pets', 'texts'])
const wellBehaved = await issue(['own'])

const batch = (operations: readonly object[]) => ({
  method: 'POST',
  path: '/data/_batch',
  headers: hostile,
  body: { operations }
})
const repeat = (count: number, make: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => make(index))

const fill = async (table: string, count: number, values: (index: number) => object) => {
  for (let start = 0; start < count; start += 1000)
    await other.dataOf(batch(repeat(1000, (index) => ({ op: 'create', table, values: values(start + index) }))))
}
await fill('films', FILMS, (index) => ({ title: `Film ${index}` }))
await fill('owners', OWNERS, () => ({ name: 'owner' }))
await fill('pets', PETS, () => ({ owner: 1 }))
await other.dataOf({ method: 'POST', path: '/data/own/records', headers: wellBehaved, body: { n: 0 } })

const change = (filter: object, maxAffected = 10_000) => ({
  op: 'update',
  table: 'films',
  filter,
  maxAffected,
  values: { note: 'x' }
})
const contains = (index: number) => ({ where: { title: { contains: `nothing ${index}` } } })
const randomText = (length: number) =>
  Array.from({ length: Math.ceil(length / 10) }, () => Math.random().toString(36).slice(2, 12)).join('')

/** Each of them held the writer thread for seconds, or takes nearly the whole budget. */
const ATTACKS: Readonly<Record<string, () => HttpRequest>> = {
  '1,000 filters': () => batch(repeat(1000, contains).map((filter) => change(filter))),
  '99 conditions': () => batch([change({ any: repeat(99, contains) })]),
  'a range of the whole table': () =>
    batch(repeat(2, () => change({ where: { id: { gte: 0 }, title: { contains: 'no' } } }))),
  '10,000 changes': () => batch([change({ where: { id: { gt: 1000, lte: 11_000 } } })]),
  'deletes of referenced records': () =>
    batch(repeat(OWNERS - 1, (index) => ({ op: 'delete', table: 'owners', pk: index + 2 }))),
  'a few deletes of referenced records': () =>
    batch(repeat(10, (index) => ({ op: 'delete', table: 'owners', pk: index + 2 }))),
  'many texts for a search index': () =>
    batch(repeat(15, () => ({ op: 'create', table: 'texts', values: { body: 'x'.repeat(1_000_000) } }))),
  'texts for a search index': () => batch([{ op: 'create', table: 'texts', values: { body: randomText(190_000) } }]),
  '7 MB of records': () =>
    batch(repeat(7, () => ({ op: 'create', table: 'films', values: { note: 'x'.repeat(1_000_000) } })))
}

let updates = 0
const update = () => {
  updates += 1
  return other.send({ method: 'PUT', path: '/data/own/records/1', headers: wellBehaved, body: { n: updates } })
}

const idle = await repeatUntil(performance.now() + ATTACK_MS, update, 5)
t.comment(`updates on an idle service: ${summary(idle.times)}`)

for (const [name, attack] of Object.entries(ATTACKS)) {
  t.test(`updates of another key beside: ${name}`, async (t) => {
    const end = performance.now() + ATTACK_MS
    const requests = Array.from({ length: isLong ? 4 : 1 }, () => repeatUntil(end, () => attacker.send(attack())))
    const own = await repeatUntil(end, update, 5)
    const attacks = await Promise.all(requests)
    const statuses = [...new Set(attacks.flatMap((sent) => [...sent.statuses]))]
    t.comment(
      `${summary(own.times)}; ${attacks.reduce((sum, sent) => sum + sent.times.length, 0)} attacks: ${statuses}`
    )
    t.strictSame([...own.statuses], [200])
    t.strictSame(
      statuses.filter((status) => ![200, 404, 409, 413, 503].includes(status)),
      []
    )
    if (isLong) {
      t.ok(percentile(own.times, 0.99) < MAX_P99_MS, '99 % are fast')
      t.ok(Math.max(...own.times) < Math.max(...idle.times) + MAX_MS, 'none waits long')
    }
  })
}
