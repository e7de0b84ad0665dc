import t from 'tap'
import { nameOf, parseName } from '../../../services/backups/names.ts'

t.test('a name has the time in UTC and the kind', async (t) => {
  const createdAt = Date.parse('2026-11-26T03:04:05Z')
  t.equal(nameOf({ kind: 'manual', createdAt: createdAt + 250 }), '2026-11-26T03-04-05Z-manual.db')
  for (const kind of ['manual', 'scheduled', 'upload', 'before-restore', 'before-upgrade'] as const)
    t.strictSame(parseName(nameOf({ kind, createdAt })), { kind, createdAt })
})

for (const name of [
  '2026-11-26T03-04-05Z-other.db',
  '2026-11-26T03-04-05Z-manual.db.partial',
  '2026-11-26T03-04-65Z-manual.db',
  '../2026-11-26T03-04-05Z-manual.db',
  'rowhouse.db'
])
  t.test(`'${name}' is not the name of a backup`, async (t) => t.equal(parseName(name), null))
