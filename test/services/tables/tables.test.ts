import { EventEmitter, once } from 'node:events'
import t from 'tap'
import { type Caller, serviceCaller } from '../../../services/model/caller.ts'
import { createTableRegistry } from '../../../services/tables/registry/registry.ts'
import { createTableService } from '../../../services/tables/tables.ts'
import { rejection } from '../engine/engine.ts'
import { startServices } from '../services.ts'
import { createTokenService, noRoleNames } from '../token-service.ts'

const tokenCaller: Caller = { ...serviceCaller, kind: 'token', id: 1, name: 'test' }

const wide = Array.from({ length: 999 }, (_, index) => `c${index}`).join(', ')

t.test('tables', async (t) => {
  const { tables, registry, external, serve } = await startServices(
    t,
    `CREATE TABLE theirs (id INTEGER PRIMARY KEY, a TEXT, g INTEGER AS (id) VIRTUAL); CREATE TABLE wide (id INTEGER PRIMARY KEY, ${wide});
     CREATE VIEW seen AS SELECT * FROM theirs; CREATE VIRTUAL TABLE found USING fts5 (a);
     CREATE TABLE keyless (rowid, _rowid_, oid); CREATE TABLE _me (a); CREATE TABLE _schema (a)`
  )

  t.test('virtual tables and tables without a key are not imported', async (t) => {
    for (const [name, reason] of [
      ['found', /a virtual table/],
      ['found_data', /a part of/],
      ['keyless', /every name of its rowid/]
    ] as const) {
      t.match(
        await rejection(tables.adoptTable(serviceCaller, name)),
        { code: 'TABLE_NOT_IMPORTABLE', message: reason },
        name
      )
    }
    t.match(await rejection(tables.adoptTable(serviceCaller, 'gone')), { code: 'TABLE_NOT_FOUND' })
    t.match(await tables.adoptTable(serviceCaller, 'THEIRS'), {
      name: 'theirs',
      label: '',
      note: null,
      isPublished: true,
      isEditable: true
    })
    t.match(await rejection(tables.adoptTable(serviceCaller, 'Theirs')), { code: 'TABLE_REGISTERED' })
  })

  t.test('reserved names are refused', async (t) => {
    for (const name of [
      '_rowhouse_admins',
      '_ROWHOUSE_tokens',
      '_Rowhouse_meta',
      'sqlite_schema',
      'SQLITE_SEQUENCE',
      '_me',
      '_ME',
      '_schema'
    ]) {
      t.match(await rejection(tables.adoptTable(serviceCaller, name)), { code: 'TABLE_NOT_IMPORTABLE' }, name)
    }
    t.match(
      await rejection(
        tables.create(serviceCaller, { name: 'sqlite_mine', label: '', fields: [{ name: 'a', jsonType: 'string' }] })
      ),
      { details: [{ path: '/name' }] }
    )
    t.match(
      await rejection(
        tables.create(serviceCaller, { name: 'mine', label: '', fields: [{ name: 'SQLite_a', jsonType: 'string' }] })
      ),
      { details: [{ path: '/fields/0/name', code: 'format' }] }
    )
  })

  t.test('of two concurrent registrations of one name, one succeeds', async (t) => {
    const table = { name: 'twice', label: '', fields: [{ name: 'a', jsonType: 'string' as const }] }
    const settled = await Promise.allSettled([
      tables.create(serviceCaller, table),
      tables.create(serviceCaller, { ...table, name: 'TWICE' })
    ])
    t.strictSame(
      settled.map(({ status }) => status),
      ['fulfilled', 'rejected']
    )
    t.match(settled[1], { reason: { code: 'TABLE_EXISTS' } })
    external.exec('CREATE TABLE imported (a)')
    const imports = await Promise.allSettled([
      tables.adoptTable(serviceCaller, 'imported'),
      tables.adoptTable(serviceCaller, 'IMPORTED')
    ])
    t.match(imports, [{ status: 'fulfilled' }, { reason: { code: 'TABLE_REGISTERED' } }])
    external.exec('CREATE TABLE many_a (a); CREATE TABLE many_b (a)')
    const lists = await Promise.allSettled([
      tables.adoptTable(serviceCaller, 'many_b'),
      tables.adoptTables(serviceCaller, { names: ['many_a', 'many_b'] })
    ])
    t.match(lists, [{ status: 'fulfilled' }, { reason: { code: 'TABLE_REGISTERED', message: /'many_b'/ } }])
    t.equal(tables.find('many_a'), undefined)
  })

  t.test('a refresh keeps the choices and registers new columns', async (t) => {
    const { id } = await tables.create(serviceCaller, {
      name: 'kept',
      label: 'Kept',
      autoTimestamps: true,
      fields: [
        { name: 'on', jsonType: 'boolean', isReadonly: true },
        { name: 'list', jsonType: 'array', label: 'List' }
      ]
    })
    external.exec('ALTER TABLE kept ADD COLUMN more REAL')
    const { structure } = await tables.refresh(serviceCaller, id)
    t.equal(structure.autoTimestamps, true)
    t.match(structure.columns, [
      { name: 'id' },
      { name: 'on', jsonType: 'boolean', isReadonly: true },
      { name: 'list', jsonType: 'array', label: 'List' },
      { name: 'created_at', isReadonly: true },
      {},
      { name: 'more', jsonType: 'number' }
    ])
    external.exec('ALTER TABLE kept DROP COLUMN updated_at')
    t.equal((await tables.refresh(serviceCaller, id)).structure.autoTimestamps, false)
    external.exec('DROP TABLE kept; CREATE TABLE kept (id INTEGER PRIMARY KEY, list INTEGER)')
    t.match((await tables.refresh(serviceCaller, id)).structure.columns, [
      { name: 'id' },
      { name: 'list', jsonType: 'integer' }
    ])
    external.exec('DROP TABLE kept')
    t.match(await rejection(tables.refresh(serviceCaller, id)), { code: 'STRUCTURE_CHANGED', hint: /Unregister/ })
  })

  t.test('a table has at most 1,000 fields', async (t) => {
    const { id } = await serve('wide')
    t.match(await rejection(tables.addField(serviceCaller, id, { name: 'more', jsonType: 'string' })), {
      details: [{ path: '/field', code: 'range' }]
    })
  })

  t.test('the defaults of a table have a common limit, which an imported table may exceed', async (t) => {
    const long = (name: string, length = 3998) =>
      ({ name, jsonType: 'string', defaultValue: 'x'.repeat(length) }) as const
    const sixteen = Array.from({ length: 16 }, (_, index) => long(`f${index}`))
    const more = { name: 'much', label: '', fields: [...sixteen, long('g', 1535)] }
    t.match(await rejection(tables.create(serviceCaller, more)), {
      code: 'VALIDATION_FAILED',
      details: [{ path: '/fields/16/defaultValue', code: 'length', message: /'g'.*at most 65536 characters/ }]
    })
    const { id } = await tables.create(serviceCaller, {
      name: 'much',
      label: '',
      fields: [...sixteen, long('g', 1530)]
    })
    t.match(await rejection(tables.addField(serviceCaller, id, long('h', 3))), {
      details: [{ path: '/field/defaultValue', code: 'length' }]
    })
    await tables.addField(serviceCaller, id, { name: 'h', jsonType: 'string' })
    await tables.addField(serviceCaller, id, long('i', 2))
    t.match(await rejection(tables.addField(serviceCaller, id, long('j', 0))), {
      details: [{ path: '/field/defaultValue' }]
    })

    external.exec(`CREATE TABLE longer_defaults (id INTEGER PRIMARY KEY, a TEXT DEFAULT '${'x'.repeat(70_000)}')`)
    const imported = await tables.adoptTable(serviceCaller, 'longer_defaults')
    t.match(await rejection(tables.addField(serviceCaller, imported.id, long('b', 1))), {
      details: [{ path: '/field/defaultValue', code: 'length' }]
    })
    await tables.addField(serviceCaller, imported.id, { name: 'b', jsonType: 'string' })
  })

  t.test('a field that declares a key cannot be added; the error names the property', async (t) => {
    const { id } = tables.find('much') ?? { id: 0 }
    for (const declared of [{ isPrimary: true }, { isAutoIncrement: true }])
      t.match(await rejection(tables.addField(serviceCaller, id, { name: 'key', jsonType: 'integer', ...declared })), {
        details: [{ path: `/field/${Object.keys(declared)[0]}`, code: 'key' }]
      })
    await tables.addField(serviceCaller, id, {
      name: 'key',
      jsonType: 'integer',
      isPrimary: false,
      isAutoIncrement: false
    })
  })

  t.test('a registration that another program changed is read again before a change', async (t) => {
    const { id, updatedAt } = tables.find('theirs') ?? { id: 0, updatedAt: 0 }
    external.exec(`UPDATE _rowhouse_tables SET note = 'theirs', updated_at = updated_at + 1 WHERE id = ${id}`)
    t.match((await tables.update(serviceCaller, id, { label: 'ours' })).table, {
      label: 'ours',
      note: 'theirs',
      updatedAt: updatedAt + 2
    })
  })

  t.test('a token adds a field only if a concurrent change left the table published and editable', async (t) => {
    const { id } = tables.find('theirs') ?? { id: 0 }
    const change = (set: string) => {
      external.exec(`UPDATE _rowhouse_tables SET ${set}, updated_at = updated_at + 1 WHERE id = ${id}`)
    }
    const add = (name: string) => tables.addField(tokenCaller, id, { name, jsonType: 'string' })
    change("note = 'still open'")
    t.match(await add('first'), { note: 'still open' })
    change('is_editable = 0')
    t.match(await rejection(add('second')), { code: 'TABLE_READ_ONLY' })
    change('is_editable = 1')
    await registry.load()
    change('is_published = 0')
    t.match(await rejection(add('third')), { code: 'TABLE_NOT_FOUND' })
    const columns = external.prepare("SELECT name FROM pragma_table_info('theirs')").pluck().all()
    t.strictSame(columns, ['id', 'a', 'first'])
    await tables.addField(serviceCaller, id, { name: 'fourth', jsonType: 'string' })
    change('is_published = 1')
    await registry.load()
  })

  t.test('a registration that keeps changing is a conflict', async (t) => {
    const { id } = tables.find('theirs') ?? { id: 0 }
    external.exec('CREATE TRIGGER contended BEFORE UPDATE ON _rowhouse_tables BEGIN SELECT RAISE(IGNORE); END')
    t.match(await rejection(tables.update(serviceCaller, id, { label: 'never' })), { code: 'TABLE_CHANGED' })
    external.exec('DROP TRIGGER contended')
    t.match((await tables.update(serviceCaller, id, { label: 'now' })).table, { label: 'now' })
  })

  t.test('other failures of a registration are passed on', async (t) => {
    external.exec("CREATE TRIGGER refusing BEFORE INSERT ON _rowhouse_tables BEGIN SELECT RAISE(ABORT, 'no'); END")
    t.match(
      await rejection(
        tables.create(serviceCaller, { name: 'refused', label: '', fields: [{ name: 'a', jsonType: 'string' }] })
      ),
      { code: 'REFUSED_BY_TRIGGER' }
    )
    t.equal(
      external.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'refused' AND type = 'table'").pluck().get(),
      0
    )
    t.match(
      await rejection(tables.update(serviceCaller, tables.find('theirs')?.id ?? 0, { fields: [{ name: 'gone' }] })),
      {
        code: 'VALIDATION_FAILED'
      }
    )
    external.exec('DROP TRIGGER refusing')
  })

  t.test('an unregistered table keeps its rows and can be imported again', async (t) => {
    const { id } = tables.find('theirs') ?? { id: 0 }
    external.exec("INSERT INTO theirs (a) VALUES ('x'), ('y')")
    t.match(await rejection(tables.unregister(serviceCaller, id, false)), {
      code: 'CONFIRMATION_REQUIRED',
      message: /has 2 rows/
    })
    await tables.unregister(serviceCaller, id, true)
    t.throws(() => tables.get(id), { code: 'TABLE_NOT_FOUND' })
    t.match(
      await rejection(
        tables.create(serviceCaller, { name: 'theirs', label: '', fields: [{ name: 'a', jsonType: 'string' }] })
      ),
      { code: 'TABLE_EXISTS', hint: /import it/ }
    )
    const { id: adopted, list } = await serve('theirs')
    t.equal((await list()).total, 2)
    external.prepare('DELETE FROM _rowhouse_tables WHERE id = ?').run(adopted)
    t.match(await rejection(tables.unregister(serviceCaller, adopted, true)), { code: 'TABLE_NOT_FOUND' })
    const rows = 'SELECT count(*) FROM _rowhouse_audit WHERE target_id = ?'
    t.equal(external.prepare(rows).pluck().get(adopted), 0)
    await serve('theirs')
    await registry.load()
    t.ok(tables.find('THEIRS'))
  })
})

t.test('a change that is acknowledged during a load of the registry is kept', async (t) => {
  const { db } = await startServices(t, 'CREATE TABLE theirs (a)')
  const lock = new EventEmitter()
  let isLocked = false
  const registry = createTableRegistry({
    ...db,
    read: async (statement) => {
      if (isLocked && statement.sql.includes('trigger')) await once(lock, 'free')
      return db.read(statement)
    }
  })
  const tables = createTableService({
    db,
    registry,
    clock: Date.now,
    tokenNames: createTokenService({ db, clock: Date.now }).names,
    roleNames: noRoleNames,
    onBuildFailure: () => {}
  })
  const { id } = await tables.adoptTable(serviceCaller, 'theirs')
  isLocked = true
  const loading = registry.load()
  await tables.update(serviceCaller, id, { isPublished: false })
  lock.emit('free')
  await loading
  t.equal(registry.get(id).isPublished, false)
})
