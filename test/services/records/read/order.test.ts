import t from 'tap'
import type { Access } from '../../../../services/records/access/access.ts'
import { createJoins } from '../../../../services/records/read/joins.ts'
import { parseOrder } from '../../../../services/records/read/order.ts'
import { rejection } from '../../engine/engine.ts'

const accessTo = (fields: readonly string[], key: readonly string[] = ['id']) =>
  ({ columns: new Map(fields.map((name) => [name, {}])), table: { structure: { key } } }) as unknown as Access

const NO_TABLES = { mayRead: () => true, accessTo: () => undefined }

const access = accessTo(['id', 'price', 'name', 'desc', 'a b', 'x.desc', '-odd'])

const parsed = (order?: string, of = access) =>
  parseOrder(of, order, createJoins(of, NO_TABLES)).map(({ name, descending }) => (descending ? `${name} down` : name))

t.test('each format of a direction is parsed', async (t) => {
  const expected: Record<string, string[]> = {
    price: ['price'],
    '-price': ['price down'],
    '+price': ['price'],
    ' price': ['price'],
    '- price': ['price down'],
    'price desc': ['price down'],
    'price   DESC': ['price down'],
    'price:desc': ['price down'],
    'price : desc': ['price down'],
    'price.desc': ['price down'],
    'price asc': ['price'],
    'price.ASC': ['price'],
    'price,-name': ['price', 'name down'],
    ' price , -name ': ['price', 'name down'],
    asc: ['id'],
    '': [],
    '  ': []
  }
  for (const [order, items] of Object.entries(expected)) t.strictSame(parsed(order), items, JSON.stringify(order))
  t.strictSame(parsed(undefined), [])
})

t.test('a name can have commas, and spaces at its ends', async (t) => {
  const odd = accessTo(['id', 'Price, net', 'a', 'b', 'a,b', 'name', 'name ', 'end ', ' start', 'x,y,z'])
  const expected: Record<string, string[]> = {
    'Price, net': ['Price, net'],
    '-Price, net,id': ['Price, net down', 'id'],
    'id,Price, net desc': ['id', 'Price, net down'],
    'a,b': ['a,b'],
    'a , b': ['a', 'b'],
    'b,a': ['b', 'a'],
    'id,-a,b': ['id', 'a,b down'],
    name: ['name'],
    'name ': ['name '],
    '-name ': ['name  down'],
    'end ,id': ['end ', 'id'],
    'id, end ': ['id', 'end '],
    ' start': [' start'],
    '- start': [' start down'],
    'id,x,y,z desc': ['id', 'x,y,z down']
  }
  for (const [order, items] of Object.entries(expected)) t.strictSame(parsed(order, odd), items, JSON.stringify(order))
  for (const [order, unknown] of [
    ['end', "'end'"],
    ['id,x,y', "'x'"]
  ] as const)
    t.match(await rejection((async () => parsed(order, odd))()), { details: [{ message: new RegExp(unknown) }] })
})

t.test('a field with exactly this name wins', async (t) => {
  t.strictSame(parsed('desc'), ['desc'])
  t.strictSame(parsed('-desc'), ['desc down'])
  t.strictSame(parsed('desc desc'), ['desc down'])
  t.strictSame(parsed('a b'), ['a b'])
  t.strictSame(parsed('a b desc'), ['a b down'])
  t.strictSame(parsed('x.desc'), ['x.desc'])
  t.strictSame(parsed('x.desc.desc'), ['x.desc down'])
  t.strictSame(parsed('-odd'), ['-odd'])
})

t.test('a direction without a field belongs to the field before it', async (t) => {
  const plain = accessTo(['id', 'price', 'name'])
  t.strictSame(parsed('price,desc', plain), ['price down'])
  t.strictSame(parsed('price,name, DESC', plain), ['price', 'name down'])
  t.strictSame(parsed('price desc,asc', plain), ['price'])
})

t.test('a direction alone means the key, each field of it', async (t) => {
  const composite = accessTo(['a', 'b'], ['a', 'b'])
  t.strictSame(parsed('desc', composite), ['a down', 'b down'])
  t.strictSame(parsed('asc', composite), ['a', 'b'])
})

t.test('an item that is not a field is rejected', async (t) => {
  for (const order of [
    'gone',
    'price;name',
    'price,,name',
    'price sideways',
    '-price desc',
    'Price',
    'price descending',
    ':desc',
    '--price'
  ]) {
    const error = await rejection((async () => parsed(order))())
    t.match(error, { code: 'VALIDATION_FAILED', details: [{ path: '/order' }] }, order)
  }
})

t.test('eight fields are accepted, nine are not', async (t) => {
  t.equal(parsed('price,name,price,name,price,name,price,name').length, 8)
  t.throws(() => parsed('price,name,price,name,price,name,price,name,id'), { message: /takes 8 fields at most/ })
})

t.test('a long text is rejected fast', async (t) => {
  const began = Date.now()
  for (const order of [
    `a${' '.repeat(60_000)}x`,
    `a${' .:'.repeat(20_000)}x`,
    `a${' '.repeat(60_000)}descx`,
    `a${' :'.repeat(30_000)}desc`
  ]) {
    t.throws(() => parsed(order), { message: /is not a field of this table/ })
  }
  t.ok(Date.now() - began < 500, `${Date.now() - began} ms`)
})
