import t from 'tap'
import { identityOf, serviceCaller } from '../../../services/model/caller.ts'

t.test('the service itself has every right, and keeps it', async (t) => {
  await t.resolves(serviceCaller.confirm())
  await t.resolves(serviceCaller.confirmRight())
  t.equal(serviceCaller.mayRead('cats'), true)
})

t.test('a caller is identified by its kind and id, and by its name without an id', async (t) => {
  const token = { kind: 'token', id: 1, name: 'Ann' } as const
  t.equal(identityOf(token), identityOf({ ...token, name: 'Bob' }))
  const [ann, bob] = ['Ann', 'Bob'].map((name) => identityOf({ ...token, id: 0, name }))
  t.not(ann, bob)
  t.not(ann, identityOf(token))
})
