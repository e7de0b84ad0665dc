import t from 'tap'
import { rejection } from '../engine/engine.ts'
import { startServices } from '../services.ts'

const COUNT = 1200

const SCHEMA = `
  CREATE TABLE by_rowid (id INTEGER PRIMARY KEY, kept TEXT, gone TEXT, number INTEGER);
  CREATE TABLE by_key (code TEXT PRIMARY KEY, kept TEXT, gone TEXT, number INTEGER) WITHOUT ROWID;
  CREATE TABLE strict (id INTEGER PRIMARY KEY, kept TEXT, gone TEXT, number INTEGER) STRICT;
  WITH ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ${COUNT})
    INSERT INTO by_rowid SELECT id, 'kept', 'gone', id FROM ids;
  INSERT INTO by_key SELECT 'k' || id, kept, gone, number FROM by_rowid;
  INSERT INTO strict SELECT * FROM by_rowid;
`

const STRUCTURE_CHANGED = { code: 'STRUCTURE_CHANGED' }

t.test('a column that another program has dropped is never returned as its own name', async (t) => {
  const { serve, external } = await startServices(t, SCHEMA)
  const keys: Record<string, string> = { by_rowid: '7', by_key: 'k7', strict: '7' }

  for (const [name, pk] of Object.entries(keys)) {
    t.test(name, async (t) => {
      const { read, list, create, update, increment, exported } = await serve(name)
      t.match(await read(pk), { gone: 'gone' })
      external.exec(`ALTER TABLE ${name} DROP COLUMN gone; ALTER TABLE ${name} DROP COLUMN number`)

      const requests: Record<string, () => Promise<unknown>> = {
        'a record': () => read(pk),
        'the first page': () => list(),
        'a page by its position in the key': () => list({ page: 60 }),
        'a sorted page': () => list({ order: 'kept' }),
        'a page sorted by the column': () => list({ order: '-gone' }),
        'a search for the name of the column': () => list({ q: 'gone' }),
        'a search for a number': () => list({ q: '7' }),
        'an export': () => exported(),
        'an export sorted by the column': () => exported({ order: 'gone' }),
        'a filtered export': () => exported({ q: 'gone' }),
        'one exported page': () => exported({ page: 1 }),
        'an update of the column': () => update(pk, { gone: 'x' }),
        'an increment of the column': () => increment(pk, 'number'),
        'a new record': () => create({ ...(name === 'by_key' && { code: 'new' }), kept: 'x' })
      }
      for (const [title, request] of Object.entries(requests))
        t.match(await rejection(request()), STRUCTURE_CHANGED, title)
      t.equal(external.prepare(`SELECT count(*) FROM ${name}`).pluck().get(), COUNT, 'no record was stored')
    })
  }
})
