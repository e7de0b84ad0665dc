import t, { type Test } from 'tap'
import { readDeclared } from '../../../../services/engine/reader/schema-copy.ts'
import { describeDeclaredView, describePreparedView } from '../../../../services/engine/reader/view-description.ts'
import { openConnection } from '../../../../services/engine/shared/connection.ts'

const connect = (t: Test) => {
  const connection = openConnection({ file: ':memory:', readonly: false, busyTimeout: 0, cacheSize: 1 })
  t.teardown(() => connection.close())
  connection.raw.exec(
    `CREATE TABLE cats (id INTEGER PRIMARY KEY, Name TEXT);
     CREATE TABLE toys (id INTEGER PRIMARY KEY, cat INTEGER);
     CREATE VIRTUAL TABLE words USING fts5 (name, content = 'cats', content_rowid = 'id');
     CREATE VIEW names AS SELECT id, Name AS title, length(Name) AS size FROM cats;
     CREATE VIEW nested AS SELECT title, toys.id FROM names JOIN toys ON toys.cat = names.id;
     CREATE VIEW both AS SELECT id FROM cats UNION ALL SELECT id FROM toys;
     CREATE VIEW over_both AS SELECT id FROM "both";
     CREATE VIEW found AS SELECT name FROM 'words';
     CREATE VIEW broken AS SELECT x FROM gone`
  )
  return connection
}

const start = (t: Test) => {
  const connection = connect(t)
  return (name: string) => {
    const { stored_columns, sources } = describePreparedView(connection, name)
    const { origins, reads } = JSON.parse(String(sources))
    return { columns: JSON.parse(String(stored_columns)), origins, reads: new Set<string>(reads) }
  }
}

t.test('a view is described with its columns and the stored columns that they return', async (t) => {
  const { columns, origins, reads } = start(t)('names')
  t.match(columns, [
    { name: 'id', type: 'INTEGER' },
    { name: 'title', type: 'TEXT' },
    { name: 'size', hidden: 2 }
  ])
  t.strictSame(origins, [
    { name: 'id', origin: { table: 'cats', column: 'id' } },
    { name: 'title', origin: { table: 'cats', column: 'name' } },
    { name: 'size', origin: null }
  ])
  t.strictSame([...reads], ['cats'])
})

t.test('a view reads the views that it names, and their tables', async (t) => {
  const { origins, reads } = start(t)('nested')
  t.strictSame(origins, [
    { name: 'title', origin: { table: 'cats', column: 'name' } },
    { name: 'id', origin: { table: 'toys', column: 'id' } }
  ])
  t.strictSame([...reads].sort(), ['cats', 'names', 'toys'])
})

t.test('a compound has no origins, nor has a view over it', async (t) => {
  const describe = start(t)
  for (const name of ['both', 'over_both']) {
    const { origins, reads } = describe(name)
    t.strictSame(origins, [{ name: 'id', origin: null }], name)
    t.ok(reads.has('cats') && reads.has('toys'), name)
  }
})

t.test('a view of a virtual table has no origins, and reads the table that its declaration names', async (t) => {
  const { origins, reads } = start(t)('found')
  t.strictSame(origins, [{ name: 'name', origin: null }])
  t.ok(reads.has('words') && reads.has('cats'))
})

t.test('a view that SQLite cannot prepare fails with the reason', async (t) => {
  const describe = start(t)
  t.throws(() => describe('broken'), { message: /no such table: main.gone/ })
})

t.test('a view is described on a copy of the schema as in the file, whatever the file has', async (t) => {
  const connection = connect(t)
  connection.raw.exec(
    `CREATE TABLE codes (code TEXT COLLATE NOCASE PRIMARY KEY, n NUMERIC, b BLOB, x, d DATE, UNIQUE (n, d)) WITHOUT ROWID;
     CREATE INDEX codes_x ON codes (x) WHERE x > 1;
     CREATE VIEW typed AS SELECT *, n + 1 AS sum, n || d AS text, CAST(x AS REAL) AS real, (SELECT max(id) FROM cats) AS last,
       sum(n) OVER () AS total FROM codes;
     CREATE VIEW counted AS SELECT d, count(*) AS n FROM codes LEFT JOIN cats ON cats.id = codes.x GROUP BY d;
     CREATE VIEW mixed (a, b) AS VALUES (1, 'x') UNION SELECT n, 2 FROM codes;
     WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) INSERT INTO cats SELECT i, i FROM n;
     INSERT INTO codes SELECT id, id, NULL, id, id FROM cats; DELETE FROM cats WHERE id % 3 = 0;
     ANALYZE; VACUUM`
  )
  const declared = readDeclared(connection)
  for (const name of ['names', 'nested', 'both', 'over_both', 'found', 'typed', 'counted', 'mixed']) {
    t.strictSame(describeDeclaredView(declared, name), describePreparedView(connection, name), name)
  }
  t.throws(() => describeDeclaredView(declared, 'broken'), { message: /no such table: main.gone/ })
})
