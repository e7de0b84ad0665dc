import t from 'tap'
import { serviceCaller } from '../../../../services/model/caller.ts'
import type { RowSource } from '../../../../services/sql/statement.ts'
import { tokenCaller } from '../../services.ts'
import { databaseFile, prepareFile, rejection, sql } from '../engine.ts'
import { inBothModes } from './modes.ts'
import { startClusterParts } from './stand-in.ts'

const SCHEMA = `
  CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, number REAL);
  INSERT INTO items WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    SELECT i, 'n' || (i * 7919 % 5000), i / 3.0 FROM n;
  CREATE TABLE mixed (k ANY, j TEXT, note TEXT, PRIMARY KEY (k, j)) STRICT, WITHOUT ROWID;
  CREATE VIEW lines AS SELECT name, number, x'00ff' AS bytes, 'x''41''' AS text FROM items WHERE id <= 2500;`

const KEYS = [
  '5',
  '5.5',
  "'5'",
  "'x''41'''",
  "x'41'",
  "x''",
  "''",
  '9223372036854775807',
  '-9223372036854775807',
  '1e999',
  '-1e999',
  '0.30000000000000004',
  "'[1]'",
  `'{"x":"41"}'`,
  "'ü' || char(10)"
]

t.test('a sorted export has all rows in their order, whatever the types of their keys', async (t) => {
  const insert = KEYS.map((key, index) => `INSERT INTO mixed VALUES (${key}, ${KEYS[0]}, 'note ${index}');`).join('\n')
  const [items, mixed, view, filtered] = await inBothModes(
    t,
    { schema: SCHEMA + insert, tables: ['items', 'mixed', 'lines'] },
    async ({ token }) => {
      const textOf = async (query: string) => (await token.get(`/data/${query}`)).body
      return [
        await textOf('items/export?order=-name'),
        await textOf('mixed/export?order=note'),
        await textOf('lines/export?order=number'),
        await textOf('items/export?format=ndjson&q=n77&order=name')
      ]
    }
  )
  t.equal(items?.split('\r\n').length, 5002)
  t.match(items?.split('\r\n')[1], /"n999"/)
  for (const index of KEYS.keys()) t.match(mixed, `"note ${index}"`)
  t.equal(view?.split('\r\n').length, 2502)
  t.equal(filtered?.trim().split('\n').length, 11)
})

const start = (t: Parameters<typeof startClusterParts>[0]) => {
  const file = databaseFile(t)
  prepareFile(file, SCHEMA)
  return startClusterParts(t, file)
}

t.test('collected rows are read in parts, and deleted at the release', async (t) => {
  const { readers, files } = start(t)
  const reader = readers.hold(tokenCaller)
  t.equal(await reader.collect(sql('SELECT id, name FROM items WHERE id <= ? ORDER BY id DESC', 3000n), 2), 3000)
  const idsOf = async ({ from, params }: RowSource) =>
    (await reader.scan(sql(`SELECT k0 FROM ${from} AS r ORDER BY r.position`, ...params))).map(({ k0 }) => k0)
  t.strictSame(await idsOf(reader.collected(0, 2)), [3000, 2999])
  t.strictSame(await idsOf(reader.collected(2998, 10)), [2, 1])
  t.strictSame(await idsOf(reader.collected(3000, 10)), [])
  t.match(await reader.scanChunk(sql('SELECT 1 AS text')), { text: 1 })
  t.equal(files().length, 1)
  await reader.release()
  t.strictSame(files(), [])
})

t.test('two readers are held, one for the same token', async (t) => {
  const { readers } = start(t)
  const first = readers.hold(tokenCaller)
  t.throws(() => readers.hold(tokenCaller), { code: 'OVERLOADED', message: /of this token/ })
  const second = readers.hold({ ...tokenCaller, id: 2 })
  t.throws(() => readers.hold(serviceCaller), { code: 'OVERLOADED', message: /Two/ })
  t.equal(readers.countHeld(), 2)
  await first.release()
  await readers.hold(serviceCaller).release()
  await second.release()
  t.equal(readers.countHeld(), 0)
})

t.test('the close releases all readers, also while they collect', async (t) => {
  const { readers, files } = start(t)
  const reader = readers.hold(serviceCaller)
  const idle = readers.hold(serviceCaller)
  const scanning = rejection(reader.collect(sql('SELECT id FROM items'), 1))
  readers.close()
  t.match(await scanning, { code: 'OVERLOADED' })
  t.strictSame([readers.countHeld(), files()], [0, []])
  t.match(await rejection(idle.collect(sql('SELECT id FROM items'), 1)), { code: 'OVERLOADED' })

  const storing = readers.hold(serviceCaller)
  const stored = rejection(storing.collect(sql('SELECT id FROM items'), 1))
  await new Promise<void>((resolve) => {
    const poll = () => (files().length > 0 ? resolve() : setImmediate(poll))
    poll()
  })
  readers.close()
  t.match(await stored, { code: 'OVERLOADED' })
  t.strictSame(files(), [])
})
