import t, { type Test } from 'tap'
import { describePreparedView } from '../../../../services/engine/reader/view-description.ts'
import { openConnection } from '../../../../services/engine/shared/connection.ts'

const start = (t: Test) => {
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
