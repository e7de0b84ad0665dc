import t from 'tap'
import { withExamples } from '../../../services/documents/examples.ts'

const schemas = {
  Table: { type: 'object', properties: { name: { type: 'string', examples: ['products'] } } },
  Tables: { type: 'array', items: { $ref: '#/components/schemas/Table' } }
}

/** Returns the example that a body of the schema gets. */
const exampleOf = (schema: object) => {
  const body = { content: { 'application/json': { schema } } }
  return withExamples({ '/path': { post: { requestBody: body } } }, schemas)['/path'].post.requestBody.content[
    'application/json'
  ]
}

t.test('a body gets an example composed from those of its parts', async (t) => {
  t.match(exampleOf({ $ref: '#/components/schemas/Tables' }), { example: [{ name: 'products' }] })
})

t.test('an example of the schema itself is used first', async (t) => {
  t.match(exampleOf({ ...schemas.Table, examples: [{ name: 'orders' }] }), { example: { name: 'orders' } })
})

t.test('a list of anything has an empty item', async (t) => {
  t.match(exampleOf({ type: 'array' }), { example: [undefined] })
})
