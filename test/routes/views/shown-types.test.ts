import t from 'tap'
import { asAdmin, asToken, createDatabase, createTable, dataOf, importTable, startApp } from '../../helpers.ts'
import { openServed } from '../../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE shops (id INTEGER PRIMARY KEY, name TEXT NOT NULL, loose INTEGER, is_open BOOLEAN NOT NULL,
     opened DATE NOT NULL CHECK (opened IS date(opened) AND opened >= '1900-01-01'));
   INSERT INTO shops VALUES (1, 'Old Town', 'text', 1, '2026-01-31'), (2, 'Harbour', 2, 0, '2026-02-28');
   CREATE TABLE bills (id INTEGER PRIMARY KEY, shop_id INTEGER, total REAL NOT NULL) STRICT;
   INSERT INTO bills VALUES (1, 1, 2.5), (2, NULL, 4);
   CREATE VIEW shown AS SELECT bills.id, total, name AS shop, is_open, opened, loose, total * 2 AS doubled,
     CAST(name AS TEXT) AS cast_name FROM bills LEFT JOIN shops ON shops.id = shop_id;
   CREATE VIEW nested AS SELECT id, shop AS place FROM shown;
   CREATE VIEW united AS SELECT id, total FROM bills UNION SELECT id, name FROM shops;`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
for (const name of ['shown', 'nested', 'united']) await importTable(admin, name)
const token = await asToken(app, admin)

const propertiesOf = async (name: string) => {
  const { schemas } = (await token.get('/data/_openapi.json')).json().components
  return Object.entries<{ type?: unknown; format?: string }>(schemas[name].properties).map(
    ([field, { type, format }]) => [field, type, format]
  )
}
const open = (...fields: string[]) => fields.map((field) => [field, undefined, undefined])

t.test('a view of tables that are not registered has no types', async (t) => {
  t.strictSame(
    await propertiesOf('Shown'),
    open('id', 'total', 'shop', 'is_open', 'opened', 'loose', 'doubled', 'cast_name')
  )
})

t.test('a field of a view has the type of the column that it shows, or null', async (t) => {
  await importTable(admin, 'bills')
  const shops = await importTable(admin, 'shops')
  const typed = [
    ['id', ['integer', 'null'], 'int64'],
    ['total', ['number', 'null'], 'double'],
    ['shop', ['string', 'null'], undefined],
    ['is_open', ['boolean', 'null'], undefined],
    ['opened', ['string', 'null'], 'date'],
    ...open('loose', 'doubled', 'cast_name')
  ]
  t.strictSame(await propertiesOf('Shown'), typed)
  t.strictSame(await propertiesOf('Nested'), [typed[0], ['place', ['string', 'null'], undefined]])
  t.strictSame(await propertiesOf('United'), open('id', 'total'), 'each part may have another type')
  t.strictSame(dataOf(await token.get('/data/shown')).rows, [
    {
      ...{ id: 1, total: 2.5, shop: 'Old Town', is_open: true, opened: '2026-01-31', loose: 'text' },
      ...{ doubled: 5, cast_name: 'Old Town' }
    },
    { id: 2, total: 4, shop: null, is_open: null, opened: null, loose: null, doubled: 8, cast_name: null }
  ])
  const { fields } = dataOf(await token.get('/data/shown/schema'))
  t.strictSame(
    fields.filter(({ isExact }: { isExact: boolean }) => isExact).map(({ name }: { name: string }) => name),
    ['id', 'total', 'shop', 'is_open']
  )
  await admin.delete(`/admin/tables/${shops.id}?confirm=true`)
  t.strictSame(await propertiesOf('Shown'), [
    ...typed.slice(0, 2),
    ...open('shop', 'is_open', 'opened', 'loose', 'doubled', 'cast_name')
  ])
})

t.test('a field that a view shows in another form has no type', async (t) => {
  const fields = [
    { name: 'settings', jsonType: 'object' },
    { name: 'n', jsonType: 'integer' }
  ] as const
  await createTable(admin, { name: 'devices', fields: [...fields] })
  openServed(t, file).exec('CREATE VIEW configured AS SELECT n, settings FROM devices')
  await importTable(admin, 'configured')
  t.strictSame(await propertiesOf('Configured'), [['n', ['integer', 'null'], 'int64'], ...open('settings')])
})
