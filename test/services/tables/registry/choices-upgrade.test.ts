import t, { type Test } from 'tap'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { upgradeChoices } from '../../../../services/tables/registry/choices-upgrade.ts'
import { createTableRegistry } from '../../../../services/tables/registry/registry.ts'
import { startServices } from '../../services.ts'

const FLAGS = '"jsonType":"string","isHidden":false,"isReadonly":false'
const field = (name: string) => `{"name":${JSON.stringify(name)},"label":"L",${FLAGS}}`
const version1 = (...fields: readonly string[]) =>
  `{"version":1,"autoTimestamps":false,"fields":[${fields.map(field).join(',')}]}`

/** A registry in which an earlier version has stored these choices. */
const setup = async (t: Test, rows: readonly (readonly [name: string, choices: string])[]) => {
  const services = await startServices(t, '')
  const insert = services.external.prepare("INSERT INTO _rowhouse_tables VALUES (NULL, ?, '', NULL, ?, 1, 1, 5, 6)")
  for (const row of rows) insert.run(...row)
  return services
}

t.test('tables of version 1 get names at start, in the order of their ids, and keep them', async (t) => {
  const { db, registry, tables } = await setup(t, [
    ['Track Page', version1('my col', 'my_col')],
    ['TrackPage', version1('a')],
    ['日本', version1('b')]
  ])
  await upgradeChoices(db)
  await registry.load()
  const names = () => registry.all().flatMap((table) => (table.structure ? [table.choices.clientName] : []))
  t.strictSame(names(), ['TrackPage', 'TrackPage2', 'RiBen'])
  t.match(registry.get(1), {
    updatedAt: 6,
    choices: { fields: [{ name: 'my col', clientName: 'MyCol', label: 'L' }, { clientName: 'MyCol2' }] }
  })
  t.strictSame([...registry.get(2).exactFields], [], 'nothing is measured at start')
  await tables.create(serviceCaller, { name: 'trackpage3', label: '', fields: [{ name: 'a', jsonType: 'string' }] })
  await upgradeChoices(db)
  const fresh = createTableRegistry(db)
  await fresh.load()
  t.strictSame(fresh.clientNames(null), ['TrackPage', 'TrackPage2', 'RiBen', 'Trackpage3'])
})

t.test('names of version 2 are not given to a table of version 1', async (t) => {
  const { db, registry, external } = await setup(t, [['order', version1('a')]])
  await upgradeChoices(db)
  external.exec(`INSERT INTO _rowhouse_tables VALUES (NULL, 'ORDER_', '', NULL, '${version1('a')}', 1, 1, 5, 6)`)
  await upgradeChoices(db)
  await registry.load()
  t.strictSame(registry.clientNames(null), ['Order', 'Order2'])
})

t.test('choices that cannot be read stay as they are, and the others are upgraded', async (t) => {
  const unreadable = ['{', '5', '{"version":1,', '{"version":1,"fields":5}', version1('a', 'A'), '{"version":9}']
  const { db, registry, external } = await setup(t, [
    ...unreadable.map((choices, index) => [`t${index}`, choices] as const),
    ['fine', version1('a')]
  ])
  await upgradeChoices(db)
  const stored = external.prepare('SELECT choices FROM _rowhouse_tables ORDER BY id').pluck().all()
  t.strictSame(stored.slice(0, -1), unreadable)
  await registry.load()
  t.strictSame(registry.clientNames(null), ['Fine'])
})
