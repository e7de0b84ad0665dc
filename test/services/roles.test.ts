import t from 'tap'
import { serviceCaller } from '../../services/model/caller.ts'
import { createAccessOf } from '../../services/records/access/access-of.ts'
import { createKeyRights } from '../../services/roles/key-rights.ts'
import { createRoleService } from '../../services/roles/roles.ts'
import { createTokenService } from '../../services/tokens/tokens.ts'
import { databaseFile, openExternal, rejection, startEngine } from './engine/engine.ts'
import { startServices, tokenCaller } from './services.ts'

const setup = async (t: Parameters<typeof databaseFile>[0]) => {
  const file = databaseFile(t)
  const db = await startEngine(t, file)
  const clock = () => 1_700_000_000_000
  const roles = createRoleService({ db, clock, onProblems: () => {} })
  const { scopeOf } = createKeyRights({ findRole: roles.find, findTable: () => undefined, onClosed: () => {} })
  const tokens = createTokenService({ db, clock, roles, scopeOf })
  const load = async () => {
    await roles.load()
    await tokens.load()
  }
  await load()
  return { roles, tokens, load, external: openExternal(t, file) }
}

t.test('a role or claims that another program has made invalid open nothing', async (t) => {
  const { roles, tokens, load, external } = await setup(t)
  const { id } = await roles.create(serviceCaller, { name: 'reader', grants: [{ tables: ['*'], actions: ['read'] }] })
  const issued = await tokens.issue(serviceCaller, { name: 'a', role: 'reader', claims: { a: 1 } })
  const token = () => tokens.authenticate(`Bearer ${issued.token}`)
  t.equal(token().scope.allows('read', 'cats'), true)
  for (const grants of ['{', 'null', '{}', '[{}]', '[{"tables":["*"],"actions":["write"]}]']) {
    external.prepare('UPDATE _rowhouse_roles SET grants = ?').run(grants)
    await load()
    t.strictSame(roles.read(id).grants, [], grants)
    t.equal(token().scope.allows('read', 'cats'), false, grants)
  }
  for (const claims of ['{', 'null', '[]', '5']) {
    external.prepare('UPDATE _rowhouse_tokens SET claims = ?').run(claims)
    await load()
    t.strictSame(token().role, { id, claims: {} }, claims)
  }
})

t.test('a role that another program has deleted is not found, and its tokens open nothing', async (t) => {
  const { roles, tokens, load, external } = await setup(t)
  const create = (name: string) => roles.create(serviceCaller, { name, grants: [{ tables: ['*'], actions: ['read'] }] })
  const [first, second] = [await create('first'), await create('second')]
  const { id, token } = await tokens.issue(serviceCaller, { name: 'a', role: 'second' })
  external.exec('PRAGMA foreign_keys = OFF; DELETE FROM _rowhouse_roles')
  t.match(await rejection(roles.change(serviceCaller, first.id, { grants: [] })), { code: 'ROLE_NOT_FOUND' })
  t.match(await rejection(roles.remove(serviceCaller, second.id)), { code: 'ROLE_NOT_FOUND' })
  await load()
  t.equal(tokens.read(id).role, null)
  const { scope } = tokens.authenticate(`Bearer ${token}`)
  t.strictSame([scope.allows('read', 'cats'), scope.grants('read')], [false, false])
})

t.test('other errors of a change are not explained', async (t) => {
  const { roles, external } = await setup(t)
  const { id } = await roles.create(serviceCaller, { name: 'reader', grants: [] })
  external.exec("CREATE TRIGGER kept BEFORE DELETE ON _rowhouse_roles BEGIN SELECT raise(ABORT, 'no'); END")
  t.match(await rejection(roles.remove(serviceCaller, id)), { code: 'REFUSED_BY_TRIGGER' })
})

t.test('the access of a token with a role needs an action that the role opens', async (t) => {
  const { db, tables } = await startServices(t, 'CREATE TABLE cats (id INTEGER PRIMARY KEY)')
  const { id } = await tables.adoptTable(serviceCaller, 'cats')
  const accessOf = createAccessOf(db.dialect, () => null)
  const caller = { ...tokenCaller, role: { id: 1, claims: {} } }
  t.throws(() => accessOf(caller, tables.get(id), ['read']), { code: 'ACTION_NOT_ALLOWED' })
  t.throws(() => accessOf(caller, tables.get(id), []), { message: 'A token with a role needs an action.' })
  t.ok(accessOf(tokenCaller, tables.get(id), []))
  const rights = createKeyRights({ findRole: () => undefined, findTable: tables.find, onClosed: () => {} })
  const fields = { columns: [], creatable: [], updatable: [], presets: [], hasRule: false }
  t.strictSame(rights.scopeOf(caller.role).fieldsOf(tables.get(id)), fields)
})
