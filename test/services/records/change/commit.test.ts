import t from 'tap'
import { UnexpectedChanges } from '../../../../services/engine/database.ts'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { recordTag } from '../../../../services/model/record-tag.ts'
import type { Operation } from '../../../../services/records/change/operation.ts'
import { rejection } from '../../engine/engine.ts'
import { startServices } from '../../services.ts'

const SCHEMA = `
  CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT UNIQUE, lives INTEGER);
  CREATE TABLE toys (code TEXT PRIMARY KEY NOT NULL, cat INTEGER REFERENCES cats (id)) WITHOUT ROWID;
  CREATE TABLE later (id INTEGER PRIMARY KEY, cat INTEGER REFERENCES cats (id) DEFERRABLE INITIALLY DEFERRED);
  CREATE TABLE logged (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TRIGGER ignored BEFORE INSERT ON logged WHEN new.name = 'ignore' BEGIN SELECT RAISE(IGNORE); END;
  CREATE TRIGGER undone AFTER INSERT ON logged WHEN new.name = 'undo' BEGIN DELETE FROM logged WHERE id = new.id; END;
  INSERT INTO cats VALUES (1, 'Tom', 9), (2, 'Felix', 7);
`

t.test('operations on several tables are one unit', async (t) => {
  const { serve, records, registry, external } = await startServices(t, SCHEMA)
  const [cats, toys, later] = [await serve('cats'), await serve('toys'), await serve('later')]
  const { commit, operations } = records
  const { createOp, updateOp, deleteOp, incrementOp } = operations
  const run = (...batch: readonly Operation[]) => commit(serviceCaller, batch)

  t.test('each operation has its own result, in order', async (t) => {
    const results = await commit(serviceCaller, [
      createOp(cats.access(), { name: 'Kitty' }),
      createOp(toys.access(), { code: 'ball', cat: 1 }),
      updateOp(cats.access(), '1', { name: 'Tommy' }),
      incrementOp(cats.access(), { pk: '2', field: 'lives', count: -1 }),
      createOp(cats.access(), { name: 'Garfield' })
    ])
    t.strictSame(
      results.map((result) => (result === undefined ? result : JSON.parse(result))),
      [
        { id: 3, name: 'Kitty', lives: null },
        { code: 'ball', cat: 1 },
        undefined,
        undefined,
        { id: 4, name: 'Garfield', lives: null }
      ]
    )
    t.match(await cats.read('1'), { name: 'Tommy' })
    t.match(await cats.read('2'), { lives: 6 })
  })

  t.test('an operation returns its own record, also behind operations of several statements', async (t) => {
    const returnsRecord = { returnsRecord: true }
    const results = await commit(serviceCaller, [
      updateOp(cats.access(), '1', { lives: 3 }, returnsRecord),
      incrementOp(cats.access(), { pk: '1', field: 'lives' }, returnsRecord),
      updateOp(cats.access(), '2', { lives: 6 }),
      deleteOp(cats.access(), '3', returnsRecord)
    ])
    t.strictSame(
      results.map((result) => (result === undefined ? result : JSON.parse(result))),
      [
        { id: 1, name: 'Tommy', lives: 3 },
        { id: 1, name: 'Tommy', lives: 4 },
        undefined,
        { id: 3, name: 'Kitty', lives: null }
      ]
    )
    await run(updateOp(cats.access(), '1', { lives: 9 }))
  })

  t.test('totals include every operation of a unit', async (t) => {
    const before = (await cats.list()).total
    await run(
      createOp(cats.access(), { name: 'a' }),
      createOp(cats.access(), { name: 'b' }),
      createOp(cats.access(), { name: 'c' }),
      deleteOp(cats.access(), '4')
    )
    t.equal((await cats.list()).total, before + 2)
  })

  t.test('after a failure nothing is stored', async (t) => {
    const before = await cats.list()
    const attempt = run(
      createOp(cats.access(), { name: 'new' }),
      createOp(toys.access(), { code: 'mouse', cat: 1 }),
      createOp(cats.access(), { name: 'Felix' })
    )
    await t.rejects(attempt, {
      code: 'UNIQUE_VIOLATION',
      statement: 2,
      details: [{ path: '/name', code: 'unique' }]
    })
    t.strictSame(await cats.list(), before)
    await t.rejects(toys.read('mouse'), { code: 'RECORD_NOT_FOUND' })
  })

  t.test('a record that does not exist fails the unit', async (t) => {
    const attempt = run(updateOp(cats.access(), '1', { lives: 8 }), deleteOp(cats.access(), '99'))
    await t.rejects(attempt, { code: 'RECORD_NOT_FOUND' })
    t.match(await cats.read('1'), { lives: 9 })
  })

  t.test('an operation gets the position of a failed statement in its own unit', async (t) => {
    const logged = await serve('logged')
    const attemptWith = (name: string) =>
      run(
        createOp(logged.access(), { name: 'stored' }),
        updateOp(cats.access(), '1', { lives: 8 }),
        createOp(logged.access(), { name })
      )
    await t.rejects(attemptWith('ignore'), { code: 'REFUSED_BY_TRIGGER', message: /ignored the change/ })
    await t.rejects(attemptWith('undo'), { code: 'REFUSED_BY_TRIGGER', message: /deletes the record/ })
    t.equal((await logged.list()).total, 0)
  })

  t.test('the error of a single operation has the position of the failed statement', async (t) => {
    await t.rejects(run(createOp(cats.access(), { name: 'Felix' })), {
      code: 'UNIQUE_VIOLATION',
      statement: 0,
      details: [{ path: '/name' }]
    })
  })

  t.test('a record that others reference cannot be deleted', async (t) => {
    const message = "The record '1' cannot be deleted: other records reference it."
    await t.rejects(run(deleteOp(cats.access(), '1')), { code: 'FOREIGN_KEY_VIOLATION', message, details: undefined })
    await t.rejects(run(updateOp(cats.access(), '2', { lives: 1 }), deleteOp(cats.access(), '1')), {
      code: 'FOREIGN_KEY_VIOLATION',
      message
    })
    t.match(await cats.read('2'), { lives: 6 })
  })

  t.test('an operation with tags compares them in the unit, and its error has the present tag', async (t) => {
    const access = cats.access()
    const etag = recordTag(await records.read(serviceCaller, access, '1'))
    const ifMatch = ['"other"', etag]
    await run(updateOp(access, '1', { lives: 2 }, { ifMatch }), incrementOp(access, { pk: '1', field: 'lives' }))
    const present = recordTag(await records.read(serviceCaller, access, '1'))
    for (const operation of [
      updateOp(access, '1', { lives: 4 }, { ifMatch }),
      updateOp(access, '1', { lives: 4 }, { ifMatch: [] }),
      incrementOp(access, { pk: '1', field: 'lives' }, { ifMatch }),
      deleteOp(access, '1', { ifMatch })
    ])
      await t.rejects(run(createOp(access, { name: 'f' }), operation), {
        code: 'PRECONDITION_FAILED',
        etag: present
      })
    t.match(await cats.read('1'), { lives: 3 })
    await run(updateOp(access, '1', { lives: 9 }, { ifMatch: [present] }))
  })

  t.test('an error of an operation that is not a domain error is thrown unchanged', async (t) => {
    const failure = new Error('unexpected')
    const operation = { ...deleteOp(cats.access(), '99'), explain: () => ({ mayRetry: false, error: () => failure }) }
    t.equal(await rejection(run(updateOp(cats.access(), '1', { lives: 8 }), operation)), failure)
  })

  t.test('a foreign key checked at COMMIT belongs to no single operation', async (t) => {
    const attempt = run(createOp(cats.access(), { name: 'd' }), createOp(later.access(), { id: 1, cat: 99 }))
    await t.rejects(attempt, { code: 'FOREIGN_KEY_VIOLATION', details: undefined })
    t.equal((await later.list()).total, 0)
    await run(createOp(later.access(), { id: 1, cat: 50 }), createOp(cats.access(), { id: 50, name: 'e' }))
    t.match(await later.read('1'), { cat: 50 })
  })

  t.test('an empty batch has no results', async (t) => {
    t.strictSame(await run(), [])
  })

  t.test('the right is checked again before a retry', async (t) => {
    const ended = Object.assign(new Error('ended'), { code: 'ENDED' })
    const caller = { ...serviceCaller, confirm: async () => Promise.reject(ended) }
    // The trigger ignores the change, which looks like a record that was inserted concurrently.
    external.exec(`CREATE TRIGGER ignoring BEFORE UPDATE ON cats WHEN old.id = 2 BEGIN SELECT RAISE(IGNORE); END`)
    await registry.load()
    await t.rejects(commit(caller, [updateOp(cats.access(), '2', { lives: 1 })]), { code: 'ENDED' })
    await t.rejects(run(updateOp(cats.access(), '1', { lives: 5 }), updateOp(cats.access(), '2', { lives: 1 })), {
      code: 'REFUSED_BY_TRIGGER'
    })
    t.match(await cats.read('1'), { lives: 9 })
  })
})

t.test('a failure of the engine itself', async (t) => {
  const { serve, records, db } = await startServices(t, SCHEMA)
  const { commit, operations } = records
  const cats = await serve('cats')
  const attempt = () =>
    commit(serviceCaller, [
      operations.updateOp(cats.access(), '1', { lives: 1 }),
      operations.updateOp(cats.access(), '2', { lives: 1 })
    ])

  t.test('is thrown unchanged if it has no position', async (t) => {
    const failure = new Error('The writer has ended.')
    db.write = async () => Promise.reject(failure)
    t.equal(await rejection(attempt()), failure)
  })

  t.test('is an internal error if its position is outside the unit', async (t) => {
    db.write = async () => Promise.reject(new UnexpectedChanges(2))
    t.match(await rejection(attempt()), { message: 'The unit has no statement 2.', code: undefined })
  })
})

t.test('the right is checked again before a batch is committed', async (t) => {
  const { serve, records } = await startServices(t, SCHEMA)
  const cats = await serve('cats')
  const tables = { open: cats.access, mayRead: () => true }
  const operations = [{ op: 'create', table: 'cats', values: { name: 'Kitty' } }] as const
  const revoked = { ...serviceCaller, confirm: async () => Promise.reject(new Error('The right has ended.')) }
  t.match(await rejection(records.batch(revoked, tables, operations)), /The right has ended/)
  t.equal((await cats.list()).total, 2)
  await records.batch(serviceCaller, tables, operations)
  t.equal((await cats.list()).total, 3)
})
