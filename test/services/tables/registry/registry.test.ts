import t, { type Test } from 'tap'
import { createSqliteDialect } from '../../../../services/engine/shared/sqlite-dialect.ts'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { overloaded } from '../../../../services/model/errors.ts'
import { createAccessOf } from '../../../../services/records/access/access-of.ts'
import { createTableRegistry } from '../../../../services/tables/registry/registry.ts'
import { toTable, toVisibleTable } from '../../../../services/tables/table-json.ts'
import { createTableService } from '../../../../services/tables/tables.ts'
import { readableFields } from '../../../../services/tables/token-access.ts'
import { rejection } from '../../engine/engine.ts'
import { startServices } from '../../services.ts'
import { createTokenService, noRoleNames } from '../../token-service.ts'
import '../../../plain-threads.ts'
import { fieldsWithoutRole } from '../../../../services/model/visible-fields.ts'

const TABLE = `CREATE TABLE cats (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'Tom', extra TEXT, twice INTEGER AS (id * 2)
)`

/** An imported table. `execute` changes the file from outside and loads the registry again. */
const setup = async (t: Test, sql = TABLE, name = 'cats') => {
  const services = await startServices(t, sql)
  const { tables, registry, external } = services
  const { id } = await tables.adoptTable(serviceCaller, name)
  const execute = async (text: string) => {
    external.exec(text)
    await registry.load()
  }
  const columns = () => tables.get(id).structure.columns
  const stored = () =>
    JSON.parse(String(external.prepare('SELECT choices FROM _rowhouse_tables WHERE id = ?').pluck().get(id)))
  return { ...services, id, execute, columns, stored }
}

t.test('the registry stores choices, and no facts', async (t) => {
  const { stored } = await setup(t)
  const field = { jsonType: 'string', isHidden: false, isReadonly: false }
  t.strictSame(stored(), {
    version: 2,
    clientName: 'Cats',
    autoTimestamps: false,
    labelField: 'name',
    fields: [
      { ...field, name: 'id', clientName: 'Id', label: 'id', jsonType: 'integer', isNullableKey: true },
      { ...field, name: 'name', clientName: 'Name', label: 'name', exactType: 'TEXT' },
      { ...field, name: 'extra', clientName: 'Extra', label: 'extra', exactType: 'TEXT' },
      { ...field, name: 'twice', clientName: 'Twice', label: 'twice', jsonType: 'integer', isReadonly: true }
    ]
  })
})

t.test('a table that is created or extended is the same after a restart', async (t) => {
  const { tables, registry, db } = await startServices(t, '')
  const { id } = await tables.create(serviceCaller, {
    name: 'all',
    label: 'All',
    note: 'n',
    autoTimestamps: true,
    fields: [
      { name: 'code', jsonType: 'string', isPrimary: true, nullable: true },
      { name: 'i', jsonType: 'integer', defaultValue: '9007199254740993' },
      { name: 'n', jsonType: 'number', defaultValue: 1e21 },
      { name: 's', jsonType: 'string', defaultValue: "it's\n[1]" },
      { name: 'b', jsonType: 'boolean', nullable: false, defaultValue: true },
      { name: 'o', jsonType: 'object', defaultValue: { a: [1, 'ä'] }, isHidden: true },
      { name: 'l', jsonType: 'array', defaultValue: [], isReadonly: true },
      { name: 'x', jsonType: 'string', sqliteType: 'BLOB', defaultValue: '/wA=' }
    ]
  })
  const { id: counted } = await tables.create(serviceCaller, {
    name: 'counted',
    label: '',
    fields: [{ name: 'id', jsonType: 'integer', isPrimary: true, nullable: false }]
  })
  t.match(tables.get(id).structure.columns[0], { isPrimary: true, nullable: true })
  await tables.addField(serviceCaller, id, { name: 'later', jsonType: 'boolean', nullable: false, defaultValue: false })
  await tables.update(serviceCaller, id, { fields: [{ name: 's', label: 'Text' }] })
  const fresh = createTableRegistry(db)
  await fresh.load()
  for (const table of [id, counted]) t.strictSame(fresh.get(table), registry.get(table))
})

t.test('SQLite describes tables again only if the schema has changed', async (t) => {
  const { db, id, external } = await setup(t)
  const statements: string[] = []
  const registry = createTableRegistry({
    ...db,
    read: (statement) => {
      statements.push(statement.sql)
      return db.read(statement)
    }
  })
  const described = async () => {
    statements.length = 0
    await registry.load()
    return statements.some((sql) => sql.includes('pragma_table'))
  }
  t.equal(await described(), true)
  external.exec("INSERT INTO cats DEFAULT VALUES; UPDATE _rowhouse_tables SET label = 'L'")
  t.equal(await described(), false)
  t.equal(registry.get(id).label, 'L')
  external.exec('CREATE TABLE dogs (id INTEGER PRIMARY KEY)')
  t.equal(await described(), true)
  external.exec("UPDATE _rowhouse_tables SET name = 'dogs'")
  t.equal(await described(), true, 'a row with the name of another table')
  t.match(registry.get(id), { name: 'dogs', structure: { key: ['id'], columns: [{ isPrimary: true }] } })
})

t.test('a column that appeared is not served before a refresh', async (t) => {
  const { tables, id, execute, columns } = await setup(t)
  await execute('ALTER TABLE cats ADD COLUMN lives INTEGER')
  t.notOk(columns().some(({ name }) => name === 'lives'))
  t.equal(tables.get(id).isOutdated, false)
  await tables.refresh(serviceCaller, id)
  t.match(columns().at(-1), { name: 'lives', jsonType: 'integer' })
})

t.test('facts about a registered column are served as soon as they change', async (t) => {
  const { id, execute, columns, tables } = await setup(t)
  await tables.update(serviceCaller, id, { fields: [{ name: 'name', label: 'N', isHidden: true }] })
  await execute(
    'DROP TABLE cats; CREATE TABLE cats (ID INTEGER PRIMARY KEY, name REAL DEFAULT 2, extra TEXT NOT NULL, twice INTEGER)'
  )
  t.match(columns(), [
    { name: 'id', isPrimary: true },
    { name: 'name', label: 'N', isHidden: true, sqliteType: 'REAL', jsonType: 'number', defaultValue: 2 },
    { name: 'extra', nullable: false },
    { name: 'twice', isGenerated: false, isReadonly: true }
  ])
  t.match(tables.get(id).structure, { key: ['id'], rowid: 'id', isRowidKey: true })
  t.match((await tables.refresh(serviceCaller, id)).structure, { key: ['ID'], columns: [{ name: 'ID' }] })
})

t.test('a column that vanished stays listed until a refresh', async (t) => {
  const { id, execute, columns, tables, stored } = await setup(t)
  await tables.update(serviceCaller, id, { fields: [{ name: 'extra', label: 'More', isHidden: true }] })
  await execute('ALTER TABLE cats DROP COLUMN extra')
  t.match(columns()[2], { name: 'extra', label: 'More', isHidden: true, sqliteType: 'TEXT', jsonType: 'string' })
  t.equal(tables.get(id).isOutdated, false)
  await tables.update(serviceCaller, id, { label: 'still there' })
  t.equal(stored().fields[2].label, 'More')
  t.strictSame(
    (await tables.refresh(serviceCaller, id)).structure.columns.map(({ name }) => name),
    ['id', 'name', 'twice']
  )
})

t.test(
  'a stored table without the registered key is listed, and its records are refused until a refresh',
  async (t) => {
    const stored = {
      'is gone': '',
      'became a view': 'CREATE VIEW cats AS SELECT 1 AS id, 2 AS name',
      'became a view that is broken': 'CREATE VIEW cats AS SELECT a FROM missing',
      'became a virtual table': 'CREATE VIRTUAL TABLE cats USING fts5 (id, name)',
      'has a key that is not registered': 'CREATE TABLE cats (code TEXT PRIMARY KEY, name TEXT)',
      'has a hidden column as its key': 'CREATE TABLE cats (id INTEGER, extra TEXT PRIMARY KEY)',
      'has no key and no name for its rowid': 'CREATE TABLE cats (rowid, _rowid_, oid)'
    }
    for (const [state, sql] of Object.entries(stored)) {
      t.test(`a stored table that ${state}`, async (t) => {
        const { tables, registry, id, execute } = await setup(t)
        await tables.update(serviceCaller, id, { label: 'C', fields: [{ name: 'extra', isHidden: true }] })
        await execute(`DROP TABLE cats; ${sql}`)
        const table = tables.get(id)
        t.equal(table.isOutdated, true)
        t.match(toTable(table), {
          name: 'cats',
          label: 'C',
          isPublished: true,
          fields: [{ name: 'id' }, { name: 'name' }, {}, {}]
        })
        t.throws(() => createAccessOf(createSqliteDialect(), () => null)(serviceCaller, table, []), {
          code: 'STRUCTURE_CHANGED'
        })
        const added = tables.addField(serviceCaller, id, { name: 'more', jsonType: 'string' })
        t.match(await rejection(added), { code: 'STRUCTURE_CHANGED', message: /'cats'/ })
        t.match(await rejection(tables.unregister(serviceCaller, id, false)), { message: /cannot be counted/ })
        t.equal((await tables.update(serviceCaller, id, { note: 'n' })).table.note, 'n')
        await execute(`DROP ${sql.startsWith('CREATE VIEW') ? 'VIEW' : 'TABLE'} IF EXISTS cats; ${TABLE}`)
        t.equal(registry.get(id).isOutdated, false)
      })
    }
  }
)

t.test('a hidden column that became the key is named to no token', async (t) => {
  const { tables, id, execute } = await setup(t)
  await tables.update(serviceCaller, id, { fields: [{ name: 'extra', isHidden: true }] })
  await execute('DROP TABLE cats; CREATE TABLE cats (id INTEGER, name TEXT, extra TEXT, PRIMARY KEY (id, extra))')
  t.equal(toTable(tables.get(id)).primaryKey, 'id,extra')
  t.equal(toVisibleTable(tables.get(id), fieldsWithoutRole(tables.get(id)), () => true).primaryKey, 'id')
})

t.test('a missing column is not taken for the rowid', async (t) => {
  const { tables, id, execute } = await setup(t, 'CREATE TABLE u (id INTEGER PRIMARY KEY, oid TEXT, v TEXT)', 'u')
  t.equal(tables.get(id).isOutdated, false)
  await execute('DROP TABLE u; CREATE TABLE u (id INTEGER PRIMARY KEY, v TEXT)')
  t.equal(tables.get(id).isOutdated, true)
  await tables.refresh(serviceCaller, id)
  t.equal(tables.get(id).isOutdated, false)
})

t.test('an imported table lists its key when its stored table is gone', async (t) => {
  const { tables, id, execute } = await setup(t)
  await execute('DROP TABLE cats')
  t.match(toTable(tables.get(id)), { primaryKey: 'id', fields: [{ name: 'id', isPrimary: true }, {}, {}, {}] })
})

t.test('a table that was created here lists its key when its stored table is gone', async (t) => {
  const { tables, execute } = await setup(t)
  const { id } = await tables.create(serviceCaller, {
    name: 'dogs',
    label: '',
    fields: [{ name: 'a', jsonType: 'string' }]
  })
  await execute('DROP TABLE dogs')
  t.match(toTable(tables.get(id)), {
    primaryKey: 'id',
    fields: [{ name: 'id', isPrimary: true }, { isPrimary: false }]
  })
})

t.test('a load between a commit and its acknowledgement keeps the newer facts', async (t) => {
  const { db, registry, external } = await startServices(t, TABLE)
  let sql = ''
  const write: typeof db.write = async (unit) => {
    const results = await db.write(unit)
    external.exec(sql)
    await registry.load()
    return results
  }
  const tables = createTableService({
    db: { ...db, write },
    registry,
    clock: Date.now,
    tokenNames: createTokenService({ db, clock: Date.now }).names,
    roleNames: noRoleNames,
    onBuildFailure: () => {}
  })
  const anew = (columns: string) => `DROP TABLE cats; CREATE TABLE cats (id INTEGER PRIMARY KEY, ${columns})`
  sql = anew("name TEXT DEFAULT 'Eve'")
  const { id, structure } = await tables.adoptTable(serviceCaller, 'cats')
  t.equal(structure.columns[1]?.defaultValue, 'Eve')
  sql = anew('name, extra, twice, lives REAL DEFAULT 9')
  const lives = { name: 'lives', jsonType: 'integer' } as const
  t.match((await tables.addField(serviceCaller, id, lives)).structure.columns[4], {
    sqliteType: 'REAL',
    defaultValue: 9
  })
  sql = anew('name TEXT')
  t.equal((await tables.refresh(serviceCaller, id)).structure.columns[2]?.isGenerated, false)
  sql = 'DROP TABLE cats'
  t.equal((await tables.addField(serviceCaller, id, { name: 'more', jsonType: 'string' })).isOutdated, true)
})

t.test('a registration that cannot be read', async (t) => {
  const { tables, registry, external, id, execute } = await setup(
    t,
    `${TABLE}; CREATE TABLE dogs (id INTEGER PRIMARY KEY)`
  )
  await tables.adoptTable(serviceCaller, 'dogs')
  const setChoices = (choices: string) =>
    external.prepare('UPDATE _rowhouse_tables SET choices = ? WHERE id = ?').run(choices, id)

  t.test('is reported once', async (t) => {
    setChoices('{')
    t.match(await registry.load(), [{ id, name: 'cats', problem: /JSON/ }])
    t.strictSame(await registry.load(), [])
    setChoices('{"version":9}')
    t.strictSame(await registry.load(), [])
    await registry.reload()
  })

  t.test('is reported by the next load if a retry found it', async (t) => {
    setChoices(
      '{"version":2,"clientName":"Cats","autoTimestamps":false,"fields":[{"name":"id","clientName":"Id","label":"","jsonType":"integer","isHidden":false,"isReadonly":false}]}'
    )
    t.strictSame(await registry.load(), [])
    setChoices('{')
    await registry.reload()
    t.match(await registry.load(), [{ id }])
  })

  t.test('is listed, and no use but unregistering is accepted', async (t) => {
    t.match(tables.all().map(toTable), [
      { id, name: 'cats', primaryKey: '', fields: [], isPublished: false, isEditable: false },
      { name: 'dogs', isPublished: true }
    ])
    const unusable = { code: 'TABLE_UNUSABLE', message: /'cats'.*Unregister it, then import it again\.$/ }
    t.throws(() => tables.get(id), unusable)
    t.match(await rejection(tables.update(serviceCaller, id, { label: '' })), unusable)
    t.match(await rejection(tables.refresh(serviceCaller, id)), unusable)
    t.match(await rejection(tables.addField(serviceCaller, id, { name: 'a', jsonType: 'string' })), unusable)
    t.match(await rejection(tables.adoptTable(serviceCaller, 'cats')), unusable)
    t.match(await rejection(tables.unregister(serviceCaller, id, false)), { code: 'CONFIRMATION_REQUIRED' })
  })

  t.test('can be unregistered and imported again', async (t) => {
    await tables.unregister(serviceCaller, id, true)
    const table = await tables.adoptTable(serviceCaller, 'cats')
    t.match(tables.get(table.id), { isOutdated: false, structure: { key: ['id'] } })
    await execute('INSERT INTO cats DEFAULT VALUES')
    t.match(tables.get(table.id), { name: 'cats' })
  })
})

t.test('foreign keys follow the stored table, under the registered names', async (t) => {
  const { tables, id, execute } = await setup(t, 'CREATE TABLE cats (id INTEGER PRIMARY KEY, owner INTEGER)')
  const foreignKeys = () => tables.get(id).structure.foreignKeys
  t.strictSame(foreignKeys(), [])
  await execute('CREATE TABLE homes (id INTEGER PRIMARY KEY)')
  await execute('ALTER TABLE cats ADD COLUMN home INTEGER REFERENCES homes')
  t.strictSame(foreignKeys(), [], 'the column is not registered')
  await tables.refresh(serviceCaller, id)
  const toHome = { fields: ['home'], table: 'homes', targetFields: ['id'] }
  t.strictSame(foreignKeys(), [toHome])
  await execute('DROP TABLE homes')
  t.strictSame(foreignKeys(), [], 'the other table does not exist')
  await execute('CREATE TABLE homes (id INTEGER PRIMARY KEY)')
  t.strictSame(foreignKeys(), [toHome])
  await execute('ALTER TABLE cats RENAME COLUMN home TO HOME')
  t.strictSame(foreignKeys(), [toHome])
  await execute('DROP TABLE cats')
  t.strictSame(foreignKeys(), [])
})

t.test('an index of another program is a fact after a reload', async (t) => {
  const { columns, execute } = await setup(t)
  const indexed = () => columns().flatMap(({ name, isIndexed }) => (isIndexed ? [name] : []))
  t.strictSame(indexed(), ['id'])
  await execute('CREATE INDEX by_name ON cats (name)')
  t.strictSame(indexed(), ['id', 'name'])
  await execute('DROP INDEX by_name')
  t.strictSame(indexed(), ['id'])
})

t.test('a token cannot read the fields of an outdated table', async (t) => {
  const { tables, execute } = await setup(t)
  const isReadable = readableFields(tables.find, {
    reaches: () => true,
    allows: () => true,
    fieldsOf: fieldsWithoutRole
  })
  t.equal(isReadable('CATS', 'Name'), true)
  t.equal(isReadable('cats', 'missing'), false)
  t.equal(isReadable('dogs', 'name'), false)
  await execute('DROP TABLE cats')
  t.equal(isReadable('cats', 'name'), false)
})

t.test('a view that cannot be read now keeps its facts, and is read again by the next load', async (t) => {
  const sql = `${TABLE}; CREATE VIEW names AS SELECT id, name FROM cats`
  const { db, execute, registry, tables, id } = await setup(t, sql, 'names')
  const { describe } = db.viewScans
  let reads = 0
  const setReadable = (isReadable: boolean) => {
    db.viewScans.describe = (...args) => {
      reads += 1
      return isReadable ? describe(...args) : Promise.reject(overloaded('full', 1))
    }
  }
  setReadable(false)
  await execute('CREATE TABLE other (id INTEGER PRIMARY KEY)')
  t.equal(tables.get(id).isOutdated, false)
  const restarted = createTableRegistry(db)
  await restarted.load()
  t.equal(restarted.get(id).isOutdated, true)

  setReadable(true)
  await restarted.load()
  t.equal(restarted.get(id).isOutdated, false)
  await registry.load()
  const before = reads
  await registry.load()
  t.equal(reads, before, 'the schema has not changed')
})
