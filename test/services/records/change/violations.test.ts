import t, { type Test } from 'tap'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { createViolations } from '../../../../services/records/change/violations.ts'
import { rejection } from '../../engine/engine.ts'
import { startServices, tokenCaller } from '../../services.ts'

const SCHEMA = `
  CREATE TABLE rules (
    id INTEGER PRIMARY KEY, a INTEGER CHECK ("a" > 0), b INTEGER CONSTRAINT b_limit CHECK (b < 10 AND b > a), s TEXT
  );
  CREATE UNIQUE INDEX rules_folded ON rules (lower(s));
  CREATE TRIGGER rules_closed BEFORE INSERT ON rules WHEN new.a = 99 BEGIN SELECT RAISE(ABORT, 'No more: it''s late'); END;
  CREATE TRIGGER rules_empty BEFORE INSERT ON rules WHEN new.a = 98 BEGIN SELECT RAISE(ABORT, ''); END;
  CREATE TRIGGER rules_computed BEFORE UPDATE ON rules WHEN new.a = 99 BEGIN
    SELECT RAISE(ABORT, 'secret of ' || (SELECT v FROM vault));
  END;
  CREATE TABLE twice (id INTEGER PRIMARY KEY, a INTEGER CONSTRAINT limited CHECK (a < 5), b INTEGER CONSTRAINT limited CHECK (b < 5));

  CREATE TABLE doors (id INTEGER PRIMARY KEY, v INTEGER);
  CREATE TABLE vault (id INTEGER PRIMARY KEY, v INTEGER CONSTRAINT secret_check CHECK (v < 5), w INTEGER CHECK (w < 5));
  INSERT INTO vault VALUES (1, 1, 1);
  CREATE UNIQUE INDEX secret_index ON vault (abs(v));
  CREATE TRIGGER filled AFTER INSERT ON doors BEGIN INSERT INTO vault (v) VALUES (new.v); END;
  CREATE TRIGGER guarded BEFORE INSERT ON vault WHEN new.v = 3 BEGIN SELECT RAISE(ABORT, 'secret message'); END;
  CREATE TABLE codes (id INTEGER PRIMARY KEY, code INTEGER UNIQUE);
  INSERT INTO codes VALUES (1, 1), (2, 2);
  CREATE TABLE coded (code INTEGER REFERENCES codes (code) ON UPDATE CASCADE CHECK (code < 100));
  INSERT INTO coded VALUES (1);
`

const SAME_NAME = { code: 'CONSTRAINT_VIOLATION', message: "The change violates the check 'limited'." }

t.test('what SQLite reports about a violation', async (t) => {
  const { db, serve, tables, accessOf, records } = await startServices(t, SCHEMA)

  /** Returns functions that return the error of a write, for administrators and for tokens. */
  const failing = async (name: string) => {
    const { id, create, access } = await serve(name)
    const tokenAccess = () => accessOf(tokenCaller, tables.get(id), [])
    const hide = (field: string, isHidden = true) =>
      tables.update(serviceCaller, id, { fields: [{ name: field, isHidden }] })
    return {
      create,
      hide,
      asAdmin: (body: Record<string, unknown>) => rejection(create(body)),
      asToken: (body: Record<string, unknown>) => rejection(records.create(tokenCaller, tokenAccess(), body)),
      updateAsAdmin: (body: Record<string, unknown>) => rejection(records.update(serviceCaller, access(), '1', body)),
      updateAsToken: (body: Record<string, unknown>) => rejection(records.update(tokenCaller, tokenAccess(), '1', body))
    }
  }

  t.test('a CHECK is named with its fields', async (t) => {
    const { asAdmin, asToken, hide } = await failing('rules')
    for (const create of [asAdmin, asToken]) {
      t.match(await create({ a: 0 }), {
        code: 'CONSTRAINT_VIOLATION',
        message: `The change violates the check '"a" > 0'.`,
        details: [{ path: '/a', code: 'check', message: `'a' must satisfy the check '"a" > 0'.` }],
        hint: 'Send values that satisfy the check.'
      })
      const { message, details } = await create({ a: 5, b: 1 })
      t.equal(message, "The change violates the check 'b_limit'.")
      t.match(details, [{ path: '/a' }, { path: '/b' }])
    }
    await hide('s')
    t.match(await asAdmin({ a: 0 }), { details: [{ path: '/a' }] })
    const hidden = await asToken({ a: 0 })
    t.match(hidden, { code: 'CONSTRAINT_VIOLATION', message: 'The value violates a constraint of the table.' })
    t.equal(hidden.details, undefined)
    await hide('s', false)
  })

  t.test('the fields of all CHECKs with the reported name are named', async (t) => {
    const { asAdmin } = await failing('twice')
    t.match(await asAdmin({ a: 9 }), { ...SAME_NAME, details: [{ path: '/a' }, { path: '/b' }] })
  })

  t.test('an index on expressions is named with its fields', async (t) => {
    const { create, asAdmin, asToken, hide } = await failing('rules')
    await create({ id: 1, s: 'x' })
    const named = {
      code: 'UNIQUE_VIOLATION',
      message: "A value that must be unique is taken. The unique index is 'rules_folded'.",
      details: [
        { path: '/s', code: 'unique', message: "'s' leads to a value of the index 'rules_folded' that is taken." }
      ]
    }
    t.match(await asAdmin({ s: 'X' }), named)
    t.match(await asToken({ s: 'X' }), named)
    await hide('b')
    const generic = await asToken({ s: 'X' })
    t.match(generic, { code: 'UNIQUE_VIOLATION', message: 'A value that must be unique is taken.' })
    t.equal(generic.details, undefined)
    await hide('b', false)
  })

  t.test('the literal message of a trigger is repeated', async (t) => {
    const { asAdmin, asToken, hide } = await failing('rules')
    const message = "A trigger of the database refused the change: 'No more: it's late'."
    const generic = { code: 'REFUSED_BY_TRIGGER', message: 'A trigger of the database refused the change.' }
    t.match(await asAdmin({ a: 99 }), { code: 'REFUSED_BY_TRIGGER', message })
    t.match(await asToken({ a: 99 }), { code: 'REFUSED_BY_TRIGGER', message })
    t.match(await asAdmin({ a: 98 }), generic)
    await hide('b')
    t.match(await asAdmin({ a: 99 }), { message })
    t.match(await asToken({ a: 99 }), generic)
    await hide('b', false)
  })

  t.test('a computed message of a trigger may contain stored values, so a token does not get it', async (t) => {
    const { updateAsAdmin, updateAsToken } = await failing('rules')
    t.match(await updateAsAdmin({ a: 99 }), { message: /'secret of 1'/ })
    t.match(await updateAsToken({ a: 99 }), { message: 'A trigger of the database refused the change.' })
  })

  t.test('an error that no caller can act on stays unchanged', async (t) => {
    const { access } = await serve('rules')
    const failure = new Error('unexpected')
    t.equal(await createViolations(db)(serviceCaller, failure, { access: access() }), failure)
  })

  t.test('what a trigger or a cascade violates in another table is not reported to a token', async (t) => {
    const doors = await failing('doors')
    for (const [v, named] of [
      [9, /'secret_check'/],
      [3, /'secret message'/],
      [1, /'secret_index'/]
    ] as const) {
      t.match(await doors.asAdmin({ v }), { message: named })
      const error = await doors.asToken({ v })
      t.notMatch(`${error.message} ${JSON.stringify(error.details)} ${error.hint}`, /secret|vault/)
    }
    const codes = await failing('codes')
    t.match(await codes.updateAsAdmin({ code: 100 }), { message: "The change violates the check 'code < 100'." })
    const error = await codes.updateAsToken({ code: 100 })
    t.match(error, { code: 'CONSTRAINT_VIOLATION', message: 'The value violates a constraint of the table.' })
    t.equal(error.details, undefined)
  })
})

const REFERENCES = `
  CREATE TABLE authors (id INTEGER PRIMARY KEY);
  CREATE TABLE shelves (room TEXT COLLATE NOCASE, number INTEGER, PRIMARY KEY (room, number));
  CREATE TABLE books (
    id INTEGER PRIMARY KEY, author INTEGER REFERENCES authors, editor INTEGER REFERENCES authors (id), room TEXT,
    number INTEGER, sequel INTEGER UNIQUE REFERENCES books, later INTEGER REFERENCES authors DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (room, number) REFERENCES shelves (room, number)
  );
  CREATE TABLE reviews (id INTEGER PRIMARY KEY, sequel INTEGER REFERENCES books (sequel));
  INSERT INTO authors VALUES (1), (2);
  INSERT INTO shelves VALUES ('A', 1);
  INSERT INTO books (id, author, room, number, sequel) VALUES (1, 1, 'A', 1, 1);
  INSERT INTO reviews VALUES (1, 1);
  CREATE TABLE kept (id INTEGER PRIMARY KEY);
  CREATE TABLE keepers (id INTEGER PRIMARY KEY, kept INTEGER REFERENCES kept ON DELETE RESTRICT);
  INSERT INTO kept VALUES (1);
  INSERT INTO keepers VALUES (1, 1);
`

t.test('a violation of a foreign key', async (t) => {
  const { serve } = await startServices(t, REFERENCES)
  const { create, update, increment } = await serve('books')
  const generic = 'A foreign key would refer to a record that does not exist.'

  const expectFields = async (t: Test, attempt: Promise<unknown>, ...names: string[]) => {
    const error = await rejection(attempt)
    t.match(error, { code: 'FOREIGN_KEY_VIOLATION' })
    const detailOf = (name: string) => ({
      path: `/${name}`,
      code: 'reference',
      message: `'${name}' refers to a record that does not exist.`
    })
    t.strictSame(error.details, names.map(detailOf))
  }

  t.test('names the fields that have no parent', async (t) => {
    await expectFields(t, create({ author: 9 }), 'author')
    await expectFields(t, create({ author: 1, editor: 9 }), 'editor')
    await expectFields(t, update('1', { author: 8, editor: 9 }), 'author', 'editor')
    const { message, hint } = await rejection(create({ editor: 9 }))
    t.equal(message, "The reference in 'editor' is to a record that does not exist.")
    t.match(hint, /^Create the referenced record first/)
  })

  t.test('names all fields of a composite key', async (t) => {
    await expectFields(t, create({ room: 'a', number: 2 }), 'room', 'number')
    t.match(await create({ room: 'a', number: 1 }), { room: 'a' })
    await create({ room: 'B', author: 1 })
  })

  t.test('names the field also if the key is checked at COMMIT', async (t) => {
    await expectFields(t, create({ later: 9 }), 'later')
  })

  t.test('does not name a field that refers to its own record', async (t) => {
    await expectFields(t, create({ id: 50, sequel: 50, author: 9 }), 'author')
    await expectFields(t, create({ id: 50, sequel: 51 }), 'sequel')
    t.match(await create({ id: 50, sequel: 50 }), { id: 50 })
  })

  t.test('names no field if the values that were sent do not show it', async (t) => {
    const attempts = [
      () => update('1', { sequel: null }),
      () => update('1', { number: 7 }),
      () => increment('1', 'author', 7)
    ]
    for (const attempt of attempts) {
      const error = await rejection(attempt())
      t.match(error, { code: 'FOREIGN_KEY_VIOLATION', message: generic })
      t.equal(error.details, undefined)
    }
  })

  t.test('is the same for a key with RESTRICT', async (t) => {
    const { remove } = await serve('kept')
    t.match(await rejection(remove('1')), {
      code: 'FOREIGN_KEY_VIOLATION',
      message: /^The record '1' cannot be deleted/
    })
  })
})
