import type BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { type App, asAdmin, asToken, type Client, createDatabase, importTable, startApp } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { untilBuilt } from '../search-index.ts'
import { openServed } from '../served.ts'
import { createRandom, type Random, SEED } from './random.ts'

const ROUNDS = scaled(1000)
const SEARCHES_PER_ROUND = 3
const KEYS = 60

const COLUMNS = 'id INTEGER PRIMARY KEY, name TEXT, note TEXT COLLATE NOCASE, loose DATETIME, untyped, n INTEGER'
const GENERATED = `upper_name TEXT AS (upper(name))`
const declare = (name: string) => `CREATE TABLE ${name} (${COLUMNS}, ${GENERATED}, UNIQUE (n));`

const PARTS = [
  ...[
    'a',
    'A',
    'b',
    'B',
    'ab',
    'aB',
    'abc',
    'k',
    'K',
    '\u212a',
    ' ',
    '"',
    "'",
    '%',
    '_',
    '*',
    '(',
    ')',
    '-',
    '1',
    '23'
  ],
  ...['ä', 'Ä', 'é', 'e\u0301', 'ß', 'ſ', 'İ', 'ı', 'ς', 'Σ', '猫', '日本', '\u{1F600}', '\u{1F468}\u200d', '\u0000'],
  ...['\ufffd', '\ufffe', '\ufeff', 'AND', ' OR ', '\n', '\u{10428}', '\u{10400}']
]

const randomText = (random: Random, parts: number) =>
  Array.from({ length: 1 + random.below(parts) }, () => random.pick(PARTS)).join('')

/** Bytes that are not UTF-8: lead and continuation bytes without the others of their character. */
const STRAY = ['80', 'bf', 'c3', 'e7', 'f0', 'ff', 'c080', 'eda080']

type Stored = string | number | null | Buffer

const randomValue = (random: Random): Stored => {
  const kind = random.below(12)
  if (kind === 0) return null
  if (kind === 1) return random.pick([5, 123, 1.5, 1e300, -12345])
  return kind === 2 ? Buffer.from(randomText(random, 4)) : randomText(random, 12)
}

/** Returns the bytes of a text in which some bytes are not UTF-8. */
const strayText = (random: Random) => {
  const parts = Array.from({ length: 4 }, () => [
    Buffer.from(randomText(random, 3)),
    Buffer.from(random.pick(STRAY), 'hex')
  ])
  return Buffer.concat(parts.flat())
}

const TABLES = ['indexed', 'plain']

/** Returns a write of another program, which has the same effect on both tables. */
const randomExternalWrite = (db: BetterSqlite3.Database, random: Random) => {
  const key = 1 + random.below(KEYS)
  const values = [randomValue(random), randomValue(random), randomValue(random), randomValue(random)]
  const n = random.below(KEYS)
  const [sql, params] = random.pick<readonly [string, readonly Stored[]]>([
    ['INSERT OR REPLACE INTO $ (id, name, note, loose, untyped, n) VALUES (?, ?, ?, ?, ?, ?)', [key, ...values, n]],
    ['INSERT OR IGNORE INTO $ (id, name, note, loose, untyped, n) VALUES (?, ?, ?, ?, ?, ?)', [key, ...values, n]],
    [
      'INSERT OR FAIL INTO $ (id, name) VALUES (?, ?) ON CONFLICT DO UPDATE SET note = excluded.name',
      [key, values[0] as Stored]
    ],
    ['INSERT OR IGNORE INTO $ (id, name, n) VALUES (?, CAST(? AS TEXT), ?)', [key, strayText(random), n]],
    ['UPDATE $ SET name = CAST(? AS TEXT) WHERE id = ?', [strayText(random), key]],
    ['UPDATE $ SET name = ? WHERE id = ?', [values[0] as Stored, key]],
    ['UPDATE $ SET note = ?, loose = ?, untyped = ? WHERE id >= ?', [...values.slice(1), key]],
    ['UPDATE OR REPLACE $ SET id = ? WHERE id = ?', [1 + random.below(KEYS), key]],
    ['UPDATE OR REPLACE $ SET id = id + 7 WHERE id > ?', [key]],
    ['UPDATE OR IGNORE $ SET n = n + 1 WHERE id > ?', [key]],
    ['DELETE FROM $ WHERE id = ?', [key]],
    ['DELETE FROM $ WHERE id > ?', [KEYS]]
  ])
  return () => {
    for (const table of TABLES) db.prepare(sql.replace('$', table)).run(...params)
  }
}

/** Returns a write through the API to both tables. Both have the same outcome. */
const randomApiWrite = (token: Client, random: Random) => {
  const key = 1 + random.below(KEYS)
  const body = { name: randomText(random, 8), note: randomText(random, 8), n: random.below(KEYS) }
  const send = random.pick([
    (url: string) => token.post(`${url}/records`, { id: key, ...body }),
    (url: string) => token.put(`${url}/records/${key}`, { note: body.note }),
    (url: string) => token.delete(`${url}/records/${key}`)
  ])
  return async () => {
    for (const table of TABLES) await send(`/data/${table}`)
  }
}

const FIELDS = ['name', 'note', 'loose', 'untyped', 'upper_name']

/** The API rejects NUL, and empty texts in filters. */
const searchable = (text: string) => text.replaceAll('\0', '') || 'abc'

const randomFilter = (random: Random, depth = 0): object => {
  if (depth < 2 && random.chance(0.3)) {
    const list = Array.from({ length: 1 + random.below(3) }, () => randomFilter(random, depth + 1))
    return { [random.pick(['all', 'any', 'none'])]: list }
  }
  if (random.chance(0.15)) return { where: { n: { gt: random.below(KEYS) } } }
  const operator = random.pick(['contains', 'startsWith', 'endsWith'])
  return { where: { [random.pick(FIELDS)]: { [operator]: searchable(randomText(random, 4)) } } }
}

/** Returns a part of a stored text, so that most searches find something. */
const partOfStored = (db: BetterSqlite3.Database, random: Random) => {
  const texts = db.prepare('SELECT name FROM plain WHERE typeof(name) = ? ORDER BY id').pluck().all('text') as string[]
  const characters = [...random.pick(['abc', ...texts])]
  const start = random.below(characters.length)
  const part = characters.slice(start, start + 1 + random.below(6)).join('')
  return random.chance(0.5) ? part.toUpperCase() : part
}

const randomRequest = (db: BetterSqlite3.Database, random: Random) => {
  const text = () => searchable(random.chance(0.7) ? partOfStored(db, random) : randomText(random, 4))
  const operator = random.pick(['contains', 'startsWith', 'endsWith'])
  return random.pick<() => object>([
    () => ({ q: text() }),
    () => ({ filter: { where: { [random.pick(FIELDS)]: { [operator]: text() } } } }),
    () => ({ filter: randomFilter(random) }),
    () => ({ q: text(), filter: randomFilter(random) })
  ])()
}

const countMatches = ({ database }: App) => {
  const counts = { scans: 0, matches: 0 }
  const { scan } = database
  Object.assign(database, {
    scan: (...args: Parameters<typeof scan>) => {
      counts.scans += 1
      if (/IN \(SELECT rowid FROM "_rowhouse_search_/.test(args[0].sql)) counts.matches += 1
      return scan(...args)
    }
  })
  return counts
}

const compareSearches = async (t: Test, encoding: string) => {
  const file = createDatabase(t, [`PRAGMA encoding = '${encoding}';`, ...TABLES.map(declare)].join('\n'))
  const db = openServed(t, file)
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const token = await asToken(app, admin)
  const [{ id }] = [await importTable(admin, 'indexed'), await importTable(admin, 'plain')]
  const random = createRandom(SEED)
  for (let index = 0; index < 30; index += 1) randomExternalWrite(db, random)()
  await admin.put(`/admin/tables/${id}`, { searchIndex: true })
  for (let index = 0; index < 30; index += 1) randomExternalWrite(db, random)()
  await untilBuilt(admin, id)
  const counts = countMatches(app)
  for (let round = 0; round < ROUNDS; round += 1) {
    if (random.chance(0.3)) await randomApiWrite(token, random)()
    else randomExternalWrite(db, random)()
    for (let index = 0; index < SEARCHES_PER_ROUND; index += 1) {
      const body = { ...randomRequest(db, random), size: 100, total: true, fields: ['id'] }
      const [found, expected] = await Promise.all(TABLES.map((table) => token.post(`/data/${table}/query`, body)))
      if (found?.body === expected?.body && found?.statusCode === 200) continue
      t.fail(`seed ${SEED}, round ${round}: ${JSON.stringify(body)}`, { found: found?.body, expected: expected?.body })
    }
  }
  t.comment(`seed ${SEED}: ${counts.matches} of ${counts.scans} scans used the index`)
  t.ok(counts.matches > ROUNDS / 2)
}

for (const encoding of ['UTF-8', 'UTF-16le']) {
  t.test(`a search with the index finds the records of a scan, in a file in ${encoding}`, (t) =>
    compareSearches(t, encoding)
  )
}
