import t from 'tap'
import { AUDIT_ACTIONS } from '../../schemas/audit.ts'
import { loadSource } from './source.ts'

interface Texts {
  readonly groups: readonly { readonly actions: Readonly<Record<string, string>> }[]
}

t.test('every action of the audit has a name', async (t) => {
  const { texts } = await loadSource<{ texts: Texts }>(t, 'texts/audit.ts')
  const named = texts.groups.flatMap(({ actions }) => Object.keys(actions))
  t.strictSame(named.toSorted(), [...AUDIT_ACTIONS].toSorted())
})
