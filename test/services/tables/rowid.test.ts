import t from 'tap'
import type { NewField } from '../../../schemas/new-table.ts'
import { serviceCaller } from '../../../services/model/caller.ts'
import { startServices } from '../services.ts'

const CODE: NewField = { name: 'code', jsonType: 'string', isPrimary: true }
const text = (name: string): NewField => ({ name, jsonType: 'string' })

/** More rows than one page, not in the order of the key: a list by a wrong rowid would lose or repeat some. */
const BODIES = Array.from({ length: 30 }, (_, index) => ({ code: `c${(index * 7) % 30}`, rowid: 'same' }))

t.test('fields that hide the rowid', async (t) => {
  const { tables, serve, external } = await startServices(t, 'CREATE TABLE imported (k TEXT PRIMARY KEY, v TEXT)')

  const readAll = async (name: string) => {
    const { list, exported } = await serve(name)
    const pages = [1, 2, 3].map((page) => list({ order: '-code', page, size: 10 }))
    const rows = (await Promise.all(pages)).flatMap((page) => page.rows.map(({ code }: { code: string }) => code))
    const lines = (await exported({ order: '-code' })).split('\r\n').slice(1, -1)
    return { rows, lines: lines.length }
  }

  const expected = BODIES.map(({ code }) => code)
    .sort()
    .reverse()

  t.test('a new table may have a field named rowid', async (t) => {
    const { structure } = await tables.create(serviceCaller, {
      name: 'hiding',
      label: '',
      fields: [CODE, text('RowId')]
    })
    t.equal(structure.rowid, '_rowid_')
    const { create } = await serve('hiding')
    for (const { code, rowid } of BODIES) await create({ code, RowId: rowid })
    t.strictSame(await readAll('hiding'), { rows: expected, lines: 30 })
  })

  t.test('a field with a name of the rowid cannot be added, renamed or dropped later', async (t) => {
    const { id } = await tables.create(serviceCaller, {
      name: 'grown',
      label: '',
      fields: [CODE, text('oid'), text('a')]
    })
    const refused = (name: string) => ({
      code: 'STRUCTURE_IN_USE',
      message: `SQLite uses the name '${name}' for the rowid, so a field cannot be added, renamed or dropped with it.`
    })
    await t.rejects(tables.addField(serviceCaller, id, text('RowId')), refused('RowId'))
    await t.rejects(tables.changeField(serviceCaller, id, 'a', { name: '_rowid_' }), refused('_rowid_'))
    await t.rejects(tables.changeField(serviceCaller, id, 'oid', { name: 'b' }), refused('oid'))
    await t.rejects(tables.dropField(serviceCaller, id, 'oid', true), refused('oid'))
    t.equal((await tables.addField(serviceCaller, id, text('b'))).structure.rowid, 'rowid')
  })

  t.test('also if no name for the rowid is left', async (t) => {
    external.exec('CREATE TABLE none_left (code TEXT PRIMARY KEY, rowid, _rowid_, oid)')
    const { id, create, structure } = await serve('none_left')
    t.equal(structure().rowid, null)
    t.equal((await tables.addField(serviceCaller, id, text('more'))).structure.rowid, null)
    for (const body of BODIES) await create(body)
    t.strictSame(await readAll('none_left'), { rows: expected, lines: 30 })
  })

  t.test('other fields do not change the name of the rowid', async (t) => {
    const { id } = await tables.adoptTable(serviceCaller, 'imported')
    t.equal((await tables.addField(serviceCaller, id, text('more'))).structure.rowid, 'rowid')
    const { id: keyed } = await tables.create(serviceCaller, { name: 'keyed', label: '', fields: [text('a')] })
    t.equal((await tables.addField(serviceCaller, keyed, text('more'))).structure.rowid, 'id')
  })
})
