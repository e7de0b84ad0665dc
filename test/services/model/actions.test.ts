import t from 'tap'
import { furtherActionsOf } from '../../../services/model/actions.ts'

t.test('an upsert also needs update, and a change that shows records also needs read', async (t) => {
  t.strictSame(furtherActionsOf({}), [])
  t.strictSame(furtherActionsOf({ isUpsert: true }), ['update'])
  t.strictSame(furtherActionsOf({ showsRecords: true }), ['read'])
  t.strictSame(furtherActionsOf({ isUpsert: true, showsRecords: true }), ['update', 'read'])
})
