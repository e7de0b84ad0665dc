import t from 'tap'
import { inBothModes, post } from './modes.ts'

const rows = (count: number, toLine: (number: number) => string) =>
  Array.from({ length: count }, (_, index) => `${toLine(index + 1)}\n`).join('')

t.test('errors in all parts of a file have their lines and their total', async (t) => {
  const schema = `
    CREATE TABLE owners (id INTEGER PRIMARY KEY);
    INSERT INTO owners VALUES (1);
    CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, owner INTEGER REFERENCES owners (id),
      mother INTEGER REFERENCES cats (id), code TEXT);
    CREATE UNIQUE INDEX codes ON cats (lower(code)) WHERE owner = '1';
    INSERT INTO cats VALUES (7, 'tom', 1, NULL, 'abc');`
  const [taken, orphans, mothers, codes] = await inBothModes(
    t,
    { schema, tables: ['owners', 'cats'] },
    async ({ csv }) => [
      await post(csv, '/data/cats/import', `id,name\n${rows(12_000, (n) => `${n},${n === 11_000 ? 'TOM' : n}`)}`),
      await post(csv, '/data/cats/import', `name,owner\n${rows(12_000, (n) => `${n},${n % 2 === 0 ? 2 : 1}`)}`),
      await post(csv, '/data/cats/import', 'id,mother\n1,7\n2,1\n3,9\n4,4\n'),
      await post(csv, '/data/cats/import', 'code,owner\nABC,1\nABC,\nabd,1\n')
    ]
  )
  t.match(taken?.error, {
    code: 'IMPORT_FAILED',
    total: 2,
    details: [
      { line: 8, column: 'id' },
      { line: 11_001, column: 'name' }
    ]
  })
  t.match(orphans?.error, { total: 6000, details: [{ line: 3, code: 'reference', column: 'owner' }, { line: 5 }] })
  t.equal(orphans?.error.details.length, 100)
  t.match(mothers?.error, { total: 1, details: [{ line: 4, column: 'mother' }] })
  t.match(codes?.error, { total: 1, details: [{ line: 2, message: /codes/ }] })
})

t.test('a large file is stored in several units, with each value as it is', async (t) => {
  const schema = `
    CREATE TABLE items (id INTEGER PRIMARY KEY, text TEXT, number REAL, wide INTEGER, bytes BLOB, anything, made TEXT DEFAULT 'then');`
  const record = (n: number) =>
    JSON.stringify({
      id: n,
      text: n % 3 === 0 ? null : `"x'41'" ${n} ü\n`,
      number: n % 2 === 0 ? 5 : n / 7,
      bytes: n % 5 === 0 ? Buffer.from(`\0${n}`).toString('base64') : null,
      anything: n % 2 === 0 ? '007' : 7,
      wide: 1
    }).replace('"wide":1', '"wide":9223372036854775807')
  const [stored, exported] = await inBothModes(t, { schema, tables: ['items'] }, async ({ ndjson, token }) => [
    await post(ndjson, '/data/items/import', rows(12_000, record)),
    (await token.get('/data/items/export?format=ndjson')).body
  ])
  t.match(stored, { status: 200, data: { rows: 12_000, created: 12_000, updated: 0, atomic: false, dryRun: false } })
  const lines = String(exported).trimEnd().split('\n')
  t.equal(lines.length, 12_000)
  t.match(lines[9], '"wide":"9223372036854775807"')
  t.match(JSON.parse(String(lines[9])), {
    id: 10,
    text: '"x\'41\'" 10 ü\n',
    number: 5,
    bytes: Buffer.from('\x0010').toString('base64'),
    anything: '007',
    made: 'then'
  })
})

t.test('an upsert changes and creates records, also by another key', async (t) => {
  const schema = `
    CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT UNIQUE, lives INTEGER, number INTEGER UNIQUE ON CONFLICT REPLACE);
    CREATE TRIGGER log AFTER UPDATE ON cats BEGIN INSERT OR REPLACE INTO logged VALUES (new.id); END;
    CREATE TABLE logged (id INTEGER PRIMARY KEY);
    INSERT INTO cats VALUES (1, 'tom', 9, 1), (2, 'ada', 9, 2);
    CREATE TABLE composite (k TEXT, n INTEGER, v, PRIMARY KEY (k, n)) WITHOUT ROWID;
    INSERT INTO composite VALUES ('a', 1, 'old');`
  const results = await inBothModes(t, { schema, tables: ['cats', 'composite'] }, async ({ csv, token }) => [
    await post(csv, '/data/cats/import?mode=upsert&dryRun=true', 'id,lives\n1,8\n3,7\n'),
    await post(csv, '/data/cats/import?mode=upsert', 'id,lives\n1,8\n3,7\n'),
    await post(csv, '/data/cats/import?mode=upsert&on=name', 'name,lives\ntom,5\neve,6\n'),
    await post(csv, '/data/cats/import?mode=upsert&on=name', 'name,id\ntom,5\n'),
    await post(csv, '/data/cats/import?mode=upsert', 'id,number\n1,2\n'),
    await post(csv, '/data/composite/import?mode=upsert', 'k,n,v\na,1,new\nb,2,\n'),
    await post(csv, '/data/composite/import?mode=upsert', 'k,n\na,1\n'),
    (await token.get('/data/cats/export?format=ndjson')).body,
    (await token.get('/data/composite/export?format=ndjson')).body
  ])
  t.match(results.slice(0, 3), [
    { data: { created: 1, updated: 1, atomic: true, dryRun: true } },
    { data: { created: 1, updated: 1 } },
    { data: { created: 1, updated: 1 } }
  ])
  t.match(results.slice(3, 5), [
    { error: { details: [{ line: 2, column: 'id' }] } },
    { error: { code: 'IMPORT_FAILED' } }
  ])
  t.match(results.slice(5, 7), [{ data: { created: 1, updated: 1 } }, { data: { created: 0, updated: 0 } }])
  t.equal(results[8], '{"k":"a","n":1,"v":"new"}\n{"k":"b","n":2,"v":null}\n')
})

t.test('an atomic import with a key stores its results once', async (t) => {
  const schema = `CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO cats VALUES (1, 'tom');`
  const results = await inBothModes(t, { schema, tables: ['cats'] }, async ({ withType, token }) => {
    const keyed = withType('text/csv', { 'idempotency-key': 'one' })
    const url = '/data/cats/import?atomic=true&mode=upsert'
    const file = 'id,name\n1,Tom\n2,Ada\n'
    const first = await post(keyed, url, file)
    await token.delete('/data/cats/records/2')
    return [first, await post(keyed, url, file), (await token.get('/data/cats/export?format=ndjson')).body]
  })
  const stored = { status: 200, data: { rows: 2, created: 1, updated: 1, atomic: true, dryRun: false } }
  t.match(results.slice(0, 2), [stored, stored])
  t.equal(results[2], '{"id":1,"name":"Tom"}\n')
})
