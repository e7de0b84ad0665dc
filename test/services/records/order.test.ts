import t from 'tap'
import { parseOrder } from '../../../services/records/order.ts'
import type { View } from '../../../services/records/view.ts'
import { rejection } from '../engine/engine.ts'

const viewOf = (fields: readonly string[], key: readonly string[] = ['id']) =>
  ({ columns: new Map(fields.map((name) => [name, {}])), table: { structure: { key } } }) as unknown as View

const view = viewOf(['id', 'price', 'name', 'desc', 'a b', 'x.desc', '-odd'])

const spoken = (order?: string, of = view) =>
  parseOrder(of, order).map(({ name, descending }) => (descending ? `${name} down` : name))

t.test('each way to write a direction is understood', async (t) => {
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
  for (const [order, items] of Object.entries(expected)) t.strictSame(spoken(order), items, JSON.stringify(order))
  t.strictSame(spoken(undefined), [])
})

t.test('a field is found by its exact name first', async (t) => {
  t.strictSame(spoken('desc'), ['desc'])
  t.strictSame(spoken('-desc'), ['desc down'])
  t.strictSame(spoken('desc desc'), ['desc down'])
  t.strictSame(spoken('a b'), ['a b'])
  t.strictSame(spoken('a b desc'), ['a b down'])
  t.strictSame(spoken('x.desc'), ['x.desc'])
  t.strictSame(spoken('x.desc.desc'), ['x.desc down'])
  t.strictSame(spoken('-odd'), ['-odd'])
})

t.test('a bare direction belongs to the field before it', async (t) => {
  const plain = viewOf(['id', 'price', 'name'])
  t.strictSame(spoken('price,desc', plain), ['price down'])
  t.strictSame(spoken('price,name, DESC', plain), ['price', 'name down'])
  t.strictSame(spoken('price desc,asc', plain), ['price'])
})

t.test('a bare direction alone means the key, each field of it', async (t) => {
  const composite = viewOf(['a', 'b'], ['a', 'b'])
  t.strictSame(spoken('desc', composite), ['a down', 'b down'])
  t.strictSame(spoken('asc', composite), ['a', 'b'])
})

t.test('what names no field is refused by name', async (t) => {
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
    const error = await rejection((async () => spoken(order))())
    t.match(error, { code: 'VALIDATION_FAILED', details: [{ path: '/order' }] }, order)
  }
})

t.test('eight fields are taken, nine are not', async (t) => {
  t.equal(spoken('price,name,price,name,price,name,price,name').length, 8)
  t.throws(() => spoken('price,name,price,name,price,name,price,name,id'), { message: /takes 8 fields at most/ })
})

t.test('no text takes long to refuse', async (t) => {
  const began = Date.now()
  for (const order of [
    `a${' '.repeat(60_000)}x`,
    `a${' .:'.repeat(20_000)}x`,
    `a${' '.repeat(60_000)}descx`,
    `a${' :'.repeat(30_000)}desc`
  ]) {
    t.throws(() => spoken(order), { message: /is no field of this table/ })
  }
  t.ok(Date.now() - began < 500, `${Date.now() - began} ms`)
})
