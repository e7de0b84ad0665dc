import t from 'tap'
import type { NewField } from '../../../schemas/table.ts'
import { createTypedDocuments, dataArea } from '../../../services/documents/typed-document.ts'
import { asAdmin, asToken, createTable, startApp } from '../../helpers.ts'

t.test('a generic document without an operation of the area is refused', async (t) => {
  const generic = { openapi: '3.1.0', info: { version: '0.1.0' }, servers: [], tags: [], paths: {}, components: {} }
  t.throws(() => createTypedDocuments(generic, dataArea), /The generic document has no get \/data\/\{table\}\./)
})

t.test('a table of ten fields takes less than 12,000 bytes', async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const fields: NewField[] = [
    { name: 'title', jsonType: 'string' },
    { name: 'genre', jsonType: 'string' },
    { name: 'stock', jsonType: 'integer' },
    { name: 'price', jsonType: 'number' },
    { name: 'album_id', jsonType: 'integer' },
    { name: 'composer', jsonType: 'string' },
    { name: 'is_public', jsonType: 'boolean' },
    { name: 'settings', jsonType: 'object' },
    { name: 'released', jsonType: 'string' }
  ]
  await createTable(admin, { name: 'albums', fields })
  const token = await asToken(app, admin)
  const lengthOf = async () => Buffer.byteLength((await token.get('/data/_openapi.json')).body)
  const before = await lengthOf()
  await createTable(admin, { name: 'tracks', fields })
  const length = (await lengthOf()) - before
  t.comment(`${length} bytes`)
  t.ok(length < 12_000, `${length} bytes`)
})
