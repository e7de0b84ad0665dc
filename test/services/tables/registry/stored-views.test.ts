import t from 'tap'
import type { Database } from '../../../../services/engine/database.ts'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { DomainError, overloaded } from '../../../../services/model/errors.ts'
import { readRegisteredView, readView } from '../../../../services/tables/registry/stored-views.ts'
import { rejection } from '../../engine/engine.ts'

const failingWith = (error: Error) =>
  ({ viewScans: { describe: () => Promise.reject(error) } }) as unknown as Pick<Database, 'viewScans'> as Database

const broken = new DomainError('STRUCTURE_CHANGED', 'SQLite cannot compute the view: x.', { reported: 'x' })
const slow = new DomainError('SCAN_TIMEOUT', 'too slow')

t.test('a view that cannot be prepared has a reason, and any other failure is passed on', async (t) => {
  t.equal(await readView(failingWith(broken), serviceCaller, 'v'), 'x')
  t.equal(await readView(failingWith(slow), serviceCaller, 'v'), 'too slow')
  t.match(await rejection(readView(failingWith(overloaded('full', 1)), serviceCaller, 'v')), { code: 'OVERLOADED' })
})

t.test('a registered view that fails is unusable, and one that cannot be read now is undefined', async (t) => {
  for (const error of [broken, slow]) t.equal(await readRegisteredView(failingWith(error), serviceCaller, 'v'), null)
  t.equal(await readRegisteredView(failingWith(overloaded('full', 1)), serviceCaller, 'v'), undefined)
  t.match(await rejection(readRegisteredView(failingWith(new Error('defect')), serviceCaller, 'v')), {
    message: 'defect'
  })
})
