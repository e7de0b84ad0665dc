import t from 'tap'
import { type Action, actions } from '../../../schemas/token-action.ts'
import type { TableAction } from '../../../services/model/actions.ts'
import { createScope } from '../../../services/tokens/permissions.ts'

const ALL: readonly TableAction[] = ['read', 'create', 'update', 'delete', 'schema']
const allowed = (granted: readonly Action[]) => {
  const scope = createScope({ tables: ['cats'], actions: [...granted] })
  return ALL.filter((action) => scope.allows(action, 'cats'))
}

t.test('each action grants exactly its own actions', async (t) => {
  const expected: Record<Action, readonly TableAction[]> = {
    read: ['read'],
    write: ['create', 'update', 'delete', 'schema'],
    create: ['create'],
    update: ['update'],
    delete: ['delete'],
    schema: ['schema']
  }
  for (const action of actions) t.same(allowed([action]), expected[action], action)
})

t.test('actions add up', async (t) => {
  t.same(allowed(['read', 'delete']), ['read', 'delete'])
  t.same(allowed(['write', 'read']), ALL)
})

t.test('an empty list of actions grants nothing', async (t) => {
  t.same(allowed([]), [])
})

t.test('an empty list of tables grants nothing', async (t) => {
  const scope = createScope({ tables: [], actions: ['read'] })
  t.notOk(scope.allows('read', 'cats'))
  t.notOk(scope.reaches('cats'))
})

t.test('a listed table is in scope and another is not', async (t) => {
  const scope = createScope({ tables: ['cats', 'dogs'], actions: ['read'] })
  t.ok(scope.allows('read', 'dogs'))
  t.notOk(scope.allows('read', 'birds'))
})

t.test('a token reaches a table if it may do anything with it', async (t) => {
  t.ok(createScope({ tables: ['cats'], actions: ['delete'] }).reaches('CATS'))
  t.notOk(createScope({ tables: ['cats'], actions: ['delete'] }).reaches('dogs'))
  t.notOk(createScope({ tables: ['cats', '*'], actions: [] }).reaches('cats'))
})

t.test('an asterisk stands for every table', async (t) => {
  const scope = createScope({ tables: ['*'], actions: ['read'] })
  t.ok(scope.allows('read', 'cats'))
  t.ok(scope.allows('read', 'any "odd" name'))
})

t.test('an asterisk inside a name is an ordinary character', async (t) => {
  const scope = createScope({ tables: ['c*'], actions: ['read'] })
  t.ok(scope.allows('read', 'C*'))
  t.notOk(scope.allows('read', 'cats'))
})

t.test('names compare ignoring the case of ASCII letters', async (t) => {
  const scope = createScope({ tables: ['Cats'], actions: ['read'] })
  for (const name of ['cats', 'CATS', 'cAtS']) t.ok(scope.allows('read', name), name)
})

t.test('letters beyond ASCII keep their case, as in SQLite', async (t) => {
  const scope = createScope({ tables: ['ÉTÉ', 'k'], actions: ['read'] })
  t.ok(scope.allows('read', 'ÉtÉ'))
  t.notOk(scope.allows('read', 'été'))
  t.notOk(scope.allows('read', '\u212a'), 'the Kelvin sign is not k')
})
