import t from 'tap'
import { createCredentialIndex } from '../../../services/tokens/credential-index.ts'

t.test('entries are listed in the order of their ids, however they were added', async (t) => {
  const index = createCredentialIndex()
  for (const id of [1, 5, 3, 6, 2]) index.set({ id, digest: `d${id}` })
  t.strictSame(
    Array.from(index.all(), ({ id }) => id),
    [1, 2, 3, 5, 6]
  )
})

t.test('an entry replaces the one with its id, whose digest finds nothing then', async (t) => {
  const index = createCredentialIndex()
  index.set({ id: 1, digest: 'old' })
  index.set({ id: 1, digest: 'new' })
  t.equal(index.findByDigest('old'), undefined)
  t.strictSame(index.findByDigest('new'), index.find(1))
})

t.test('a removed entry is not found', async (t) => {
  const index = createCredentialIndex()
  index.set({ id: 1, digest: 'one' })
  index.remove(1)
  index.remove(1)
  t.strictSame([index.find(1), index.findByDigest('one'), [...index.all()]], [undefined, undefined, []])
})
