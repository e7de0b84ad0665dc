import t from 'tap'
import { serviceCaller } from '../../../services/model/caller.ts'
import { rejection } from '../engine/engine.ts'
import { startServices } from '../services.ts'

const SCHEMA = `
  CREATE TABLE numbers (id INTEGER PRIMARY KEY, i INTEGER, n NUMERIC, r REAL, s TEXT, twice INTEGER AS (i * 2));
  INSERT INTO numbers (id, i, n, r, s) VALUES (1, NULL, NULL, NULL, 'a'), (2, 9223372036854775807, 9223372036854775807, 1e308, 'b'),
    (3, 'text', x'00', 9e999, 'c'), (4, 0, 0.5, 0.5, 'd'), (5, 1.5, 1, -1e308, 'e');
  CREATE TABLE strict_numbers (id INTEGER PRIMARY KEY, i INTEGER, r REAL) STRICT;
  INSERT INTO strict_numbers VALUES (1, 9223372036854775807, NULL), (2, NULL, 1.5);
  CREATE TABLE logged (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
  CREATE TABLE log (id INTEGER PRIMARY KEY, entry TEXT);
  CREATE TRIGGER upper_case AFTER INSERT ON logged BEGIN
    INSERT INTO log (entry) VALUES (new.a), (new.a);
    UPDATE logged SET b = upper(new.a) WHERE id = new.id;
  END;
  CREATE TRIGGER ignored BEFORE INSERT ON logged WHEN new.a = 'ignore' BEGIN SELECT RAISE(IGNORE); END;
  CREATE TRIGGER rolled_back BEFORE INSERT ON logged WHEN new.a = 'rollback' BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
  CREATE TRIGGER vanishing AFTER INSERT ON logged WHEN new.a = 'vanish' BEGIN DELETE FROM logged WHERE id = new.id; END;
  CREATE TRIGGER kept BEFORE UPDATE ON logged WHEN new.a = 'ignore' BEGIN SELECT RAISE(IGNORE); END;
  CREATE TRIGGER undeletable BEFORE DELETE ON logged WHEN old.a = 'keep' BEGIN SELECT RAISE(IGNORE); END;
  CREATE TABLE counters (id INTEGER PRIMARY KEY, n INTEGER);
  INSERT INTO counters VALUES (1, 5);
  CREATE TRIGGER frozen BEFORE UPDATE ON counters BEGIN SELECT RAISE(IGNORE); END;
  CREATE TABLE logged_keys (k TEXT PRIMARY KEY DEFAULT 'made', n INTEGER, v TEXT) WITHOUT ROWID;
  CREATE TRIGGER keys_logged AFTER INSERT ON logged_keys BEGIN UPDATE logged_keys SET v = 'seen' WHERE k = new.k; END;
  CREATE TABLE renamed_keys (k TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TRIGGER keys_renamed AFTER INSERT ON renamed_keys BEGIN UPDATE renamed_keys SET k = upper(k) WHERE k = new.k; END;
  CREATE TABLE computed (id INTEGER PRIMARY KEY, j TEXT);
  INSERT INTO computed (id, j) VALUES (1, '{"a": 1}'), (2, 'no JSON');
  ALTER TABLE computed ADD COLUMN a AS (json_extract(j, '$.a'));
  CREATE TABLE checked_json (id INTEGER PRIMARY KEY, j TEXT CHECK (json_extract(j, '$.a') > 0));
  CREATE TABLE texts (k TEXT PRIMARY KEY, n INTEGER);
  CREATE TABLE parents (id INTEGER PRIMARY KEY);
  CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED);
  INSERT INTO parents VALUES (1);
  CREATE TABLE orphans (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES nowhere);
  CREATE TABLE single (id INTEGER PRIMARY KEY, a TEXT UNIQUE ON CONFLICT ROLLBACK, b TEXT UNIQUE ON CONFLICT IGNORE);
  CREATE TABLE checked (id INTEGER PRIMARY KEY, n INTEGER CHECK (n > 0), t TEXT NOT NULL);
`

const RETURNED = `
  CREATE TABLE numbers (id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, twice INTEGER AS (i * 2));
  INSERT INTO numbers (id, i, r, s) VALUES (1, 9007199254740992, 1, 'a'), (2, NULL, NULL, 'b'), (3, 3, 0.5, 'c');
  CREATE TABLE audited (id INTEGER PRIMARY KEY, a TEXT, n INTEGER, changes INTEGER DEFAULT 0);
  INSERT INTO audited (id, a, n) VALUES (1, 'x', 1);
  CREATE TRIGGER counted AFTER UPDATE OF a, n ON audited BEGIN
    UPDATE audited SET changes = changes + 1 WHERE id = new.id;
  END;
  CREATE TRIGGER vanishing AFTER UPDATE OF a ON audited WHEN new.a = 'vanish' BEGIN
    DELETE FROM audited WHERE id = new.id;
  END;
  CREATE TRIGGER last_words BEFORE DELETE ON audited BEGIN INSERT INTO log VALUES (old.a); END;
  CREATE TABLE log (entry TEXT);
  CREATE TABLE untyped (k PRIMARY KEY, n INTEGER, changes INTEGER DEFAULT 0);
  INSERT INTO untyped (k, n) VALUES (5, 1), ('5', 2), ('6', 3);
  CREATE TRIGGER untyped_counted AFTER UPDATE OF n ON untyped BEGIN
    UPDATE untyped SET changes = changes + 1 WHERE k = new.k;
  END;
  CREATE TABLE mixed (k PRIMARY KEY, n NUMERIC);
  INSERT INTO mixed VALUES (5, 'text'), ('5', 2);
  CREATE TRIGGER mixed_counted AFTER UPDATE ON mixed BEGIN INSERT INTO log VALUES (new.k); END;
`

t.test('changes that return the record', async (t) => {
  const { serve, external, registry } = await startServices(t, RETURNED)

  t.test('an update and an increment return the record after the change, exactly', async (t) => {
    const { returning, read } = await serve('numbers')
    const updated = await returning.update('1', { s: 'new', r: 2 })
    t.strictSame(updated, { id: 1, i: '9007199254740992', r: 2, s: 'new', twice: '18014398509481984' })
    t.strictSame(updated, await read('1'))
    const incremented = await returning.increment('1', 'i', '9007199254740993')
    t.strictSame(incremented, await read('1'))
    t.equal(incremented.i, '18014398509481985')
    t.match(await returning.increment('2', 'r', 0.25), { id: 2, r: 0.25, twice: null })
  })

  t.test('a delete returns the record as it was', async (t) => {
    const { returning, read } = await serve('numbers')
    t.strictSame(await returning.remove('3'), { id: 3, i: 3, r: 0.5, s: 'c', twice: 6 })
    t.match(await rejection(read('3')), { code: 'RECORD_NOT_FOUND' })
  })

  t.test('concurrent increments each return their own value', async (t) => {
    const { returning } = await serve('numbers')
    const records = await Promise.all(Array.from({ length: 20 }, () => returning.increment('2', 'i')))
    t.strictSame(
      records.map(({ i }) => i),
      Array.from({ length: 20 }, (_, index) => index + 1)
    )
  })

  t.test('the record contains the changes of triggers', async (t) => {
    const { returning, read } = await serve('audited')
    const updated = await returning.update('1', { a: 'y' })
    t.strictSame(updated, { id: 1, a: 'y', n: 1, changes: 1 })
    t.strictSame(await returning.increment('1', 'n'), { id: 1, a: 'y', n: 2, changes: 2 })
    t.strictSame(await read('1'), { id: 1, a: 'y', n: 2, changes: 2 })
  })

  t.test('an update that a trigger turns into a delete is refused if it returns the record', async (t) => {
    const { returning, update, read } = await serve('audited')
    t.match(await rejection(returning.update('1', { a: 'vanish' })), {
      code: 'REFUSED_BY_TRIGGER',
      message: /deletes the record/
    })
    t.match(await read('1'), { a: 'y' })
    t.strictSame(await returning.remove('1'), { id: 1, a: 'y', n: 2, changes: 2 })
    t.strictSame(external.prepare('SELECT entry FROM log').pluck().all(), ['y'])
    external.exec("INSERT INTO audited (id, a) VALUES (2, 'z')")
    await update('2', { a: 'vanish' })
    t.match(await rejection(read('2')), { code: 'RECORD_NOT_FOUND' })
  })

  t.test('of two keys with the same text, the record with the key in the body is returned', async (t) => {
    const { returning } = await serve('untyped')
    t.strictSame(await returning.update('5', { k: 5, n: 10 }), { k: 5, n: 10, changes: 1 })
    t.strictSame(await returning.update('5', { k: '5', n: 20 }), { k: '5', n: 20, changes: 1 })
    t.strictSame(await returning.update('6', { n: 30 }), { k: '6', n: 30, changes: 1 })
    for (const change of [() => returning.update('5', { n: 1 }), () => returning.increment('5', 'n')])
      t.match(await rejection(change()), { code: 'STRUCTURE_CHANGED', message: /Two records/ })
    const mixed = await serve('mixed')
    t.match(await rejection(mixed.returning.increment('5', 'n')), { code: 'STRUCTURE_CHANGED', message: /Two records/ })
  })

  t.test('a change of a missing record fails as it does without the record', async (t) => {
    for (const name of ['numbers', 'audited']) {
      const { returning } = await serve(name)
      const field = name === 'numbers' ? 'i' : 'n'
      for (const change of [
        () => returning.update('9', { [field]: 1 }),
        () => returning.increment('9', field),
        () => returning.remove('9')
      ])
        t.match(await rejection(change()), { code: 'RECORD_NOT_FOUND' }, name)
    }
  })

  t.test('the record contains the changes of foreign key actions', async (t) => {
    external.exec(`CREATE TABLE nodes (id INTEGER PRIMARY KEY, code TEXT UNIQUE, root TEXT REFERENCES nodes (code) ON UPDATE CASCADE);
      INSERT INTO nodes VALUES (1, 'a', 'a')`)
    await registry.load()
    const { returning, read } = await serve('nodes')
    t.strictSame(await returning.update('1', { code: 'b' }), { id: 1, code: 'b', root: 'b' })
    t.strictSame(await read('1'), { id: 1, code: 'b', root: 'b' })
  })
})

t.test('changes of records', async (t) => {
  const { serve, external, tables, registry, totals, time } = await startServices(t, SCHEMA)

  t.test('an increment counts NULL as 0 and keeps the type of the field', async (t) => {
    const { increment, read } = await serve('numbers')
    await increment('1', 'i')
    await increment('1', 'n', 0.25)
    await increment('1', 'r', -2)
    t.match(await read('1'), { i: 1, n: 0.25, r: -2 })
    await increment(4, 'i', -5)
    await increment(4, 'r', 0.25)
    await increment('4', 'i', 0)
    t.match(await read('4'), { i: -5, r: 0.75 })
    await increment('5', 'i', 1)
    t.match(await read('5'), { i: 2.5 }, 'a fraction in an integer column stays a fraction')
  })

  t.test('an increment reaches both ends of 64 bits, but not more', async (t) => {
    const { increment, read } = await serve('strict_numbers')
    await increment('2', 'i', '-9223372036854775808')
    t.equal((await read('2')).i, '-9223372036854775808')
    t.match(await rejection(increment('2', 'i', -1)), { code: 'INCREMENT_OVERFLOW' })
    t.match(await rejection(increment('1', 'i', 1)), { code: 'INCREMENT_OVERFLOW' })
    t.equal((await read('2')).i, '-9223372036854775808')
    t.equal((await read('1')).i, '9223372036854775807')
    await increment('1', 'i', '-9223372036854775807')
    t.equal((await read('1')).i, 0)
    await increment('1', 'r', 0.5)
    t.equal((await read('1')).r, 0.5)
  })

  t.test('an increment fails without a change if the value is not a number or the sum does not fit', async (t) => {
    const { update, read, increment } = await serve('numbers')
    for (const [pk, field, count] of [
      ['2', 'i', 1],
      ['2', 'n', 1],
      ['2', 'r', 1e308],
      ['3', 'i', 1],
      ['3', 'n', 1],
      ['3', 'r', 1],
      ['5', 'r', -1e308]
    ] as const) {
      t.match(await rejection(increment(pk, field, count)), { code: 'INCREMENT_OVERFLOW' }, `${field} of ${pk}`)
    }
    t.match(await read('2'), { i: '9223372036854775807', n: '9223372036854775807', r: 1e308 })
    t.match(await read('3'), { i: 'text', n: 'AA==', r: null })
    await update('3', { i: 1 })
    await increment('3', 'i')
    t.equal((await read('3')).i, 2)
  })

  t.test('an increment is refused for other fields, counts and keys', async (t) => {
    const { increment } = await serve('numbers')
    for (const field of ['s', 'id', 'twice'])
      t.match(await rejection(increment('1', field)), { code: 'NOT_INCREMENTABLE' }, field)
    t.match(await rejection(increment('1', 'gone')), { code: 'VALIDATION_FAILED', details: [{ path: '/field' }] })
    for (const count of [0.5, 2 ** 53, '5', '9223372036854775808']) {
      t.match(await rejection(increment('1', 'i', count)), { details: [{ path: '/count' }] }, String(count))
    }
    t.match(await rejection(increment(2 ** 53, 'i')), { details: [{ path: '/pk', code: 'range' }] })
    for (const pk of [99, 1.5, '01'])
      t.match(await rejection(increment(pk, 'i')), { code: 'RECORD_NOT_FOUND' }, String(pk))
    t.match(await rejection(increment('9'.repeat(8193), 'i')), { code: 'PATH_TOO_LONG' })
  })

  t.test('timestamps cannot be incremented, and grow with each change even if the clock stands still', async (t) => {
    await tables.create(serviceCaller, {
      name: 'timed',
      label: '',
      fields: [{ name: 'n', jsonType: 'integer' }],
      autoTimestamps: true
    })
    const { id } = tables.find('timed') ?? { id: 0 }
    await tables.update(serviceCaller, id, { fields: [{ name: 'updated_at', isReadonly: false }] })
    const { create, increment, update, read } = await serve('timed')
    t.strictSame(await create({}), { id: 1, n: null, created_at: time.now, updated_at: time.now })
    t.match(await rejection(increment('1', 'updated_at')), { code: 'NOT_INCREMENTABLE' })
    await increment('1', 'n')
    await update('1', { n: 5 })
    t.strictSame(await read('1'), { id: 1, n: 5, created_at: time.now, updated_at: time.now + 2 })
  })

  t.test('the response to a create contains the changes of triggers', async (t) => {
    const { create, list } = await serve('logged')
    t.strictSame(await create({ a: 'x' }), { id: 1, a: 'x', b: 'X' })
    const keys = await serve('logged_keys')
    t.strictSame(await keys.create({ k: 'k', n: 1 }), { k: 'k', n: 1, v: 'seen' })
    t.strictSame(await keys.create({ n: 2 }), { k: 'made', n: 2, v: 'seen' }, 'a key that SQLite computes')
    t.equal((await keys.read('made')).v, 'seen')
    t.equal((await list()).total, 1)
  })

  t.test('a change that a trigger ignores, rolls back or undoes is refused, and stores nothing', async (t) => {
    const { create, update, remove, list } = await serve('logged')
    for (const a of ['ignore', 'rollback', 'vanish']) {
      const error = await rejection(create({ a }))
      t.match(error, { code: 'REFUSED_BY_TRIGGER' }, a)
    }
    const counters = await serve('counters')
    t.match(await rejection(counters.increment('1', 'n')), { code: 'REFUSED_BY_TRIGGER' })
    t.equal((await counters.read('1')).n, 5)
    const renamed = await serve('renamed_keys')
    t.match(await rejection(renamed.create({ k: 'k' })), { code: 'REFUSED_BY_TRIGGER', message: /changes its key/ })
    t.equal((await renamed.list()).total, 0)
    t.match(await rejection(update('1', { a: 'ignore' })), { code: 'REFUSED_BY_TRIGGER' })
    await update('1', { a: 'keep' })
    t.match(await rejection(remove('1')), { code: 'REFUSED_BY_TRIGGER' })
    t.match(await rejection(remove('2')), { code: 'RECORD_NOT_FOUND' })
    t.match(await list(), { total: 1, rows: [{ id: 1, a: 'keep' }] })
    t.equal(external.prepare('SELECT count(*) FROM log').pluck().get(), 2)
  })

  t.test('a violation of a deferred foreign key fails only the request that caused it', async (t) => {
    const { create, list } = await serve('children')
    const [broken, fine] = await Promise.allSettled([create({ parent: 9 }), create({ parent: 1 })])
    t.match(broken, { reason: { code: 'FOREIGN_KEY_VIOLATION' } })
    t.match(fine, { value: { parent: 1 } })
    t.equal((await list()).total, 1)
  })

  t.test('a foreign key that refers to no table is a conflict, not an internal error', async (t) => {
    const { create, list } = await serve('orphans')
    const error = await rejection(create({ parent: 1 }))
    t.match(error, { code: 'STRUCTURE_CHANGED', message: /refers to a table that does not exist/ })
    t.notMatch(Reflect.get(error, 'hint'), /refresh/i)
    t.equal((await list()).total, 0)
  })

  t.test('a value that makes an expression of the table fail is refused, and changes nothing', async (t) => {
    for (const name of ['computed', 'checked_json']) {
      const { create } = await serve(name)
      t.match(await rejection(create({ j: 'no JSON' })), { code: 'CONSTRAINT_VIOLATION', message: /expression/ }, name)
      t.match(await create({ j: '{"a": 3}' }), { j: '{"a": 3}' }, name)
    }
    t.equal(external.prepare('SELECT count(*) FROM computed').pluck().get(), 3)
  })

  t.test('a record whose generated column fails is reported as such; other records are returned', async (t) => {
    const { read, list } = await serve('computed')
    t.match(await rejection(list()), { code: 'STRUCTURE_CHANGED', message: /generated column/ })
    t.match(await rejection(read('2')), { code: 'STRUCTURE_CHANGED', message: /generated column/ })
    t.match(await read('1'), { a: 1 })
  })

  t.test('creates, updates and increments of one field follow each other', async (t) => {
    const { create, update, increment, read } = await serve('numbers')
    const { id } = await create({ i: 1 })
    await increment(String(id), 'i', 2)
    await create({ i: 1 })
    await update(String(id), { i: 5 })
    await increment(String(id), 'i')
    t.match(await read(String(id)), { i: 6 })
  })

  t.test('a write that is queued before the create of its record is retried after it', async (t) => {
    const { create, update, increment, remove, read } = await serve('texts')
    const beforeCreate = async (key: string, write: () => Promise<unknown>) => {
      const [written] = await Promise.allSettled([write(), create({ k: key, n: 1 })])
      return written?.status
    }
    t.equal(await beforeCreate('a', () => update('a', { n: 5 })), 'fulfilled')
    t.equal(await beforeCreate('b', () => increment('b', 'n', 2)), 'fulfilled')
    t.equal(await beforeCreate('c', () => remove('c')), 'fulfilled')
    t.strictSame(
      [await read('a'), await read('b')],
      [
        { k: 'a', n: 5 },
        { k: 'b', n: 3 }
      ]
    )
    for (const attempt of [update('c', { n: 1 }), remove('c')])
      t.match(await rejection(attempt), { code: 'RECORD_NOT_FOUND' })
  })

  t.test('ON CONFLICT ROLLBACK and IGNORE refuse one record, and no other of the batch', async (t) => {
    const { create, list } = await serve('single')
    const bodies = [{ a: 'x' }, { a: 'x' }, { a: 'y', b: 'b' }, { b: 'b' }, { a: 'z' }]
    const settled = await Promise.allSettled(bodies.map(create))
    t.strictSame(
      settled.map(({ status }) => status === 'fulfilled'),
      [true, false, true, false, true]
    )
    t.match(settled[1], { reason: { code: 'UNIQUE_VIOLATION', details: [{ path: '/a' }] } })
    t.match(settled[3], { reason: { code: 'UNIQUE_VIOLATION', details: [{ path: '/b' }] } })
    t.equal((await list()).total, 3)
  })

  t.test('constraint violations name their fields', async (t) => {
    const { create, update } = await serve('checked')
    t.match(await rejection(create({ n: 1 })), {
      code: 'VALIDATION_FAILED',
      details: [{ path: '/t', code: 'required' }]
    })
    t.match(await rejection(create({ n: 0, t: '' })), { code: 'CONSTRAINT_VIOLATION' })
    await create({ n: 1, t: '' })
    t.match(await rejection(update('1', { t: null })), { details: [{ path: '/t', code: 'required' }] })
    t.match(await rejection(update('1', { n: -1 })), { code: 'CONSTRAINT_VIOLATION' })
  })

  t.test('a column that was dropped is a conflict, with a hint', async (t) => {
    const { read, list, create } = await serve('logged_keys')
    external.exec('ALTER TABLE logged_keys DROP COLUMN n')
    for (const request of [() => read('k'), () => list(), () => create({ k: 'l' })]) {
      t.match(await rejection(request()), { code: 'STRUCTURE_CHANGED', hint: /Refresh/ })
    }
  })

  t.test('a CHECK that only another program can evaluate is a conflict', async (t) => {
    external.pragma('trusted_schema = ON')
    external.function('external_check', { deterministic: true }, (_value) => 1)
    external.exec('CREATE TABLE bound (id INTEGER PRIMARY KEY, a TEXT CHECK (external_check(a)))')
    const { create, list } = await serve('bound')
    t.match(await rejection(create({ a: 'x' })), { code: 'STRUCTURE_CHANGED', message: /only another program has/ })
    t.equal((await list()).total, 0)
  })

  t.test('a table that has become a view, and a field that has become generated, are conflicts', async (t) => {
    external.exec('CREATE TABLE replaced (id INTEGER PRIMARY KEY, a TEXT)')
    const { create, update } = await serve('replaced')
    await create({ a: 'x' })
    external.exec("DROP TABLE replaced; CREATE TABLE replaced (id INTEGER PRIMARY KEY, a TEXT AS ('x'))")
    external.exec('INSERT INTO replaced (id) VALUES (1)')
    for (const request of [() => create({ a: 'y' }), () => update('1', { a: 'y' })]) {
      t.match(await rejection(request()), { code: 'STRUCTURE_CHANGED', hint: /Refresh/ })
    }
    external.exec("DROP TABLE replaced; CREATE VIEW replaced AS SELECT 1 AS id, 'x' AS a")
    t.match(await rejection(create({ a: 'y' })), {
      code: 'STRUCTURE_CHANGED',
      message: /it is a view or a generated column now/
    })
    external.exec('DROP VIEW replaced')
  })

  t.test('totals include rows of other programs and of new triggers', async (t) => {
    external.exec('DROP TABLE logged; DROP TABLE logged_keys')
    const { list, create } = await serve('single')
    await registry.load()
    totals.clear()
    t.equal((await list()).total, 3)
    await create({ a: 'counted' })
    t.equal((await list()).total, 4)
    external.exec(
      'CREATE TRIGGER doubles AFTER INSERT ON single WHEN new.b IS NULL BEGIN INSERT INTO single (a, b) VALUES (new.a || 2, new.id); END'
    )
    await registry.load()
    await create({ a: 'twice' })
    t.equal((await list()).total, 6)
  })
})
