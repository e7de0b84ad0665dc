import t from 'tap'
import type { Grant } from '../../../schemas/role.ts'
import {
  asAdmin,
  bearer,
  client,
  createDatabase,
  dataOf,
  expectDone,
  expectError,
  importTable,
  startApp
} from '../../helpers.ts'

const file = createDatabase(
  t,
  `CREATE TABLE teams (id INTEGER PRIMARY KEY, region TEXT, name TEXT);
   CREATE TABLE members (id INTEGER PRIMARY KEY, team INTEGER REFERENCES teams (id), name TEXT, role TEXT);
   CREATE TABLE inns (id INTEGER PRIMARY KEY);
   CREATE TABLE stays (id INTEGER PRIMARY KEY, inn INTEGER REFERENCES inns (id));
   CREATE TABLE visits (id INTEGER PRIMARY KEY, host INTEGER REFERENCES hosts (id));
   CREATE TABLE guests (id INTEGER PRIMARY KEY, name TEXT, role TEXT);
   INSERT INTO teams VALUES (1, 'north', 'a');
   INSERT INTO members VALUES (1, 1, 'Ann', 'x');
   INSERT INTO guests VALUES (1, 'Bob', 'x');`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const ids: Record<string, number> = {}
for (const name of ['teams', 'members', 'guests', 'visits', 'stays']) ids[name] = (await importTable(admin, name)).id

const READ: Grant = { tables: ['members'], actions: ['read'] }

const create = async (name: string, grants: readonly Grant[] = [READ]) =>
  dataOf(await admin.post('/admin/roles', { name, grants }))

const grantsOf = async (id: number) => dataOf(await admin.get(`/admin/roles/${id}`)).grants

t.test('a role is created, listed, read, changed and deleted', async (t) => {
  const created = await create('reader')
  t.match(created, { name: 'reader', grants: [READ], tokens: 0, warnings: [] })
  t.strictSame(dataOf(await admin.get('/admin/roles')), [created])
  const url = `/admin/roles/${created.id}`
  t.strictSame(dataOf(await admin.get(url)), created)
  const changed = dataOf(await admin.put(url, { name: 'Reader', grants: [] }))
  t.match(changed, { id: created.id, name: 'Reader', grants: [] })
  t.ok(changed.updated_at > created.updated_at)
  expectDone(t, await admin.delete(url))
  for (const response of [await admin.get(url), await admin.put(url, { grants: [] }), await admin.delete(url)])
    expectError(t, response, 404, 'ROLE_NOT_FOUND')
  const { rows } = dataOf(await admin.get('/admin/audit?size=3'))
  t.match(
    rows.map(({ action, target }: { readonly action: string; readonly target: string }) => [action, target]),
    [
      ['role.delete', 'Reader'],
      ['role.change', 'reader'],
      ['role.create', 'reader']
    ]
  )
})

t.test('names of roles are unique, ignoring case', async (t) => {
  await create('unique')
  const other = await create('other')
  expectError(t, await admin.post('/admin/roles', { name: 'UNIQUE', grants: [] }), 409, 'ROLE_EXISTS')
  expectError(t, await admin.put(`/admin/roles/${other.id}`, { name: 'Unique' }), 409, 'ROLE_EXISTS')
})

t.test('invalid grants are refused', async (t) => {
  const post = (...grants: readonly object[]) => admin.post('/admin/roles', { name: 'invalid', grants })
  expectError(t, await post(READ, { ...READ, tables: ['MEMBERS'] }), 400, 'VALIDATION_FAILED', '/grants/1/tables')
  expectError(t, await post({ ...READ, actions: ['write'] }), 400, 'VALIDATION_FAILED', '/grants/0/actions')
  expectError(t, await post({ ...READ, presets: { name: 'x' } }), 400, 'VALIDATION_FAILED', '/grants/0/presets')
  expectError(t, await post({ ...READ, tables: [] }), 400, 'VALIDATION_FAILED')
  const RULES: readonly (readonly [unknown, string])[] = [
    [{ where: { name: 'x' } }, '/where/name'],
    [{ where: { name: { equals: 'x' } } }, '/where/name/equals'],
    [{ any: { where: {} } }, '/any'],
    [{ or: [] }, '/or'],
    [{ any: [{ all: [5] }] }, '/any/0/all/0'],
    [{ via: { team: [] } }, '/via/team'],
    [{ via: { a: { via: { b: { via: { c: { via: { d: {} } } } } } } } }, '/via/a/via/b/via/c/via/d'],
    [Array.from({ length: 9 }).reduce((inner) => ({ any: [inner] }), {}), '/any/0'.repeat(9)]
  ]
  for (const [rows, path] of RULES)
    expectError(t, await post({ ...READ, rows }), 400, 'VALIDATION_FAILED', `/grants/0/rows${path}`)
  const nested = { via: { a: { via: { b: { via: { c: { none: [{ where: { d: { eq: 1 } } }] } } } } } } }
  await create('deep', [{ tables: ['later'], actions: ['read'], rows: nested }])
  expectError(t, await post({ ...READ, filter: {} }), 400, 'VALIDATION_FAILED')
  await create('two tables', [READ, { tables: ['guests'], actions: ['read'] }])
  await create('two actions', [READ, { tables: ['members'], actions: ['delete'] }])
})

t.test('a token has a role or permissions', async (t) => {
  const role = await create('staff')
  const post = (body: object) => admin.post('/admin/tokens', { name: 'key', ...body })
  const permissions = { tables: ['*'], actions: ['read'] }
  expectError(t, await post({ role: 'staff', permissions }), 400, 'VALIDATION_FAILED', '/permissions')
  expectError(t, await post({}), 400, 'VALIDATION_FAILED', '/permissions')
  expectError(t, await post({ permissions, claims: { a: 1 } }), 400, 'VALIDATION_FAILED', '/claims')
  expectError(t, await post({ role: 'stuff' }), 400, 'VALIDATION_FAILED', '/role')
  for (const a of [1.5, null, [[1]], Array(101).fill(1), 2 ** 60, {}, 'x'.repeat(1001)])
    expectError(t, await post({ role: 'staff', claims: { ok: 1, a } }), 400, 'VALIDATION_FAILED', '/claims/a')

  const issued = dataOf(
    await post({ role: 'STAFF', permissions: { tables: [], actions: [] }, claims: { a: [1, 'b'] } })
  )
  const url = `/admin/tokens/${issued.id}`
  t.match(dataOf(await admin.get(url)), {
    role: 'staff',
    claims: { a: [1, 'b'] },
    permissions: { tables: [], actions: [] }
  })
  t.equal(dataOf(await admin.get(`/admin/roles/${role.id}`)).tokens, 1)
  expectError(t, await admin.delete(`/admin/roles/${role.id}`), 409, 'ROLE_IN_USE')
  expectError(t, await admin.put(url, { permissions }), 400, 'VALIDATION_FAILED', '/permissions')
  expectError(t, await admin.put(url, { role: 'staff', permissions }), 400, 'VALIDATION_FAILED', '/permissions')
  expectError(t, await admin.put(url, { role: null, claims: { a: 1 } }), 400, 'VALIDATION_FAILED', '/claims')
  expectDone(t, await admin.put(url, { role: null, permissions }))
  t.match(dataOf(await admin.get(url)), { role: null, claims: {}, permissions })
  expectDone(t, await admin.put(url, { role: 'staff' }))
  t.match(dataOf(await admin.get(url)), { role: 'staff', permissions: { tables: [], actions: [] } })
  expectDone(t, await admin.put(url, { role: null }))
  expectDone(t, await admin.delete(`/admin/roles/${role.id}`))
})

t.test('a token without a claim of its role is issued, with a warning', async (t) => {
  const rows = { where: { team: { eq: { $claim: 'team' } } } }
  const { id: roleId } = await create('of a team', [{ ...READ, rows }])
  const issue = async (claims?: object) =>
    dataOf(await admin.post('/admin/tokens', { name: 'a', role: 'of a team', ...(claims && { claims }) }))
  const warning = "The role 'of a team' compares the claim 'team', which the token does not have."
  const mistyped = await issue({ taem: 1 })
  t.match(mistyped, { role: 'of a team', claims: { taem: 1 }, warnings: [warning] })
  t.match(await issue(), { role: 'of a team', claims: {}, warnings: [warning] })
  t.match(await issue({ team: 1 }), { claims: { team: 1 }, warnings: undefined })
  const changes = `/admin/tokens/${mistyped.id}`
  t.strictSame(dataOf(await admin.put(changes, { claims: {} })), { success: true, warnings: [warning] })
  t.strictSame(dataOf(await admin.put(changes, { claims: { team: 2 } })), { success: true })
  for (const { id } of dataOf(await admin.get('/admin/tokens?search=of+a+team')))
    await admin.delete(`/admin/tokens/${id}`)
  expectDone(t, await admin.delete(`/admin/roles/${roleId}`))
})

t.test('unknown tables and fields are stored, with a warning', async (t) => {
  const { warnings } = await create('warned', [
    { tables: ['later'], actions: ['read'] },
    {
      tables: ['members', 'guests'],
      actions: ['create'],
      rows: { any: [{ via: { team: { where: { town: { eq: 'x' } } } } }, { none: [{ where: { age: { gt: 1 } } }] }] },
      fields: { read: ['name', 'shoe'], write: ['name'] },
      presets: { role: 'x', name: { $claim: 'a' } }
    },
    {
      tables: ['members'],
      actions: ['delete'],
      rows: { where: { id: { eq: 'x' }, name: { eq: { $claim: 'name' } } } }
    },
    {
      tables: ['guests'],
      actions: ['read'],
      rows: { where: { name: { in: [{ $claim: 'a' }, 'b'] } } }
    }
  ])
  t.match(
    warnings.pop(),
    /^In the table 'members': 'rows\/where\/id\/eq' must be an integer.* The grant opens nothing there\.$/
  )
  t.strictSame(warnings, [
    "There is no table 'later' now.",
    "The table 'teams' has no field 'town'. The grant opens nothing there.",
    "The table 'members' has no field 'age'. The grant opens nothing there.",
    "The table 'members' has no field 'shoe'. The grant opens nothing there.",
    "The table 'guests' has no field 'team'. The grant opens nothing there.",
    "The table 'guests' has no field 'age'. The grant opens nothing there.",
    "The table 'guests' has no field 'shoe'. The grant opens nothing there."
  ])
})

t.test('a grant that cannot be compiled is stored, with a warning', async (t) => {
  const { warnings } = await create('misfits', [
    { tables: ['members'], actions: ['read'], rows: { via: { name: { where: {} } } } },
    { tables: ['visits'], actions: ['read'], rows: { via: { host: { where: {} } } } },
    { tables: ['guests'], actions: ['create'], presets: { id: 'x' } },
    { tables: ['guests'], actions: ['read'], rows: { any: [{ where: { name: { eq: null } } }] } }
  ])
  t.match(warnings, [
    /^In the table 'members': 'rows\/via\/name' is not a foreign key of this table\./,
    /^In the table 'visits': 'rows\/via\/host' is not a foreign key/,
    /^In the table 'guests': The preset 'id' must be an integer/,
    /^In the table 'guests': 'rows\/any\/0\/where\/name\/eq' must not be null/
  ])
})

t.test('a rule that follows a foreign key opens its table when the other table is registered', async (t) => {
  await create('host', [{ tables: ['stays'], actions: ['read'], rows: { via: { inn: { where: { id: { gt: 0 } } } } } }])
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'key', role: 'host' }))
  const key = client(app, bearer(token))
  expectError(t, await key.get('/data/stays'), 403, 'ACTION_NOT_ALLOWED')
  await importTable(admin, 'inns')
  t.equal((await key.get('/data/stays')).statusCode, 200)
})

t.test('a field that only other tables have under a * grant can be dropped', async (t) => {
  const rows = { where: { role: { eq: 'x' } } }
  const { id } = await create('star', [
    { tables: ['*'], actions: ['read'], rows },
    { tables: ['guests'], actions: ['read'] }
  ])
  const drop = () => admin.delete(`/admin/tables/${ids.guests}/fields/role?confirm=true`)
  dataOf(await admin.put(`/admin/roles/${id}`, { grants: [{ tables: ['*'], actions: ['read'], rows }] }))
  expectError(t, await drop(), 409, 'STRUCTURE_IN_USE')
  dataOf(
    await admin.put(`/admin/roles/${id}`, {
      grants: [
        { tables: ['*'], actions: ['read'], rows },
        { tables: ['guests'], actions: ['read'] }
      ]
    })
  )
  const added = await admin.post(`/admin/tables/${ids.guests}/fields`, { field: { name: 'extra', jsonType: 'string' } })
  dataOf(added)
  dataOf(
    await admin.put(`/admin/roles/${id}`, {
      grants: [
        { tables: ['*'], actions: ['read'], rows: { where: { extra: { eq: 'x' } } } },
        { tables: ['guests'], actions: ['read'] }
      ]
    })
  )
  dataOf(await admin.delete(`/admin/tables/${ids.guests}/fields/extra?confirm=true`))
  dataOf(await admin.delete(`/admin/roles/${id}`))
})

t.test('a rename rewrites the grants, and the keys of the role still work', async (t) => {
  const { id } = await create('renamed', [
    {
      tables: ['members', 'guests', 'later'],
      actions: ['read', 'create'],
      rows: { where: { role: { eq: 'x' } } },
      fields: { read: ['name', 'role'], write: ['name', 'Role'] }
    },
    { tables: ['members'], actions: ['update'], rows: { via: { team: { where: { region: { eq: 'north' } } } } } },
    { tables: ['*'], actions: ['delete'], rows: { where: { role: { eq: 'x' } } } }
  ])
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'key', role: 'renamed' }))
  const key = client(app, bearer(token))
  dataOf(await admin.put(`/admin/tables/${ids.members}/fields/role`, { name: 'rank' }))
  dataOf(await admin.put(`/admin/tables/${ids.members}/fields/team`, { name: 'group' }))
  dataOf(await admin.put(`/admin/tables/${ids.teams}/fields/region`, { name: 'area' }))
  dataOf(await admin.put(`/admin/tables/${ids.members}`, { name: 'people' }))
  const [people, guests, update, all] = await grantsOf(id)
  t.match(people, {
    tables: ['people'],
    rows: { where: { rank: { eq: 'x' } } },
    fields: { read: ['name', 'rank'], write: ['name', 'rank'] }
  })
  t.match(guests, { tables: ['guests', 'later'], rows: { where: { role: { eq: 'x' } } } })
  t.strictSame(update.rows, { via: { group: { where: { area: { eq: 'north' } } } } })
  t.strictSame(all.rows, { where: { role: { eq: 'x' } } }, 'names for all tables stay')
  t.match(dataOf(await key.get('/data/people')).rows, [{ id: 1, name: 'Ann', rank: 'x' }])
  t.equal((await key.put('/data/people/records/1', { name: 'Anna' })).statusCode, 200)
  dataOf(await admin.put(`/admin/tables/${ids.members}`, { name: 'members' }))
})

t.test('a drop that a rule needs is refused, and names the roles', async (t) => {
  const { id } = await create('needy', [
    { tables: ['members'], actions: ['schema'], rows: { via: { group: { where: { area: { eq: 'north' } } } } } },
    { tables: ['guests'], actions: ['schema'], fields: { read: ['name'] } }
  ])
  const drop = (path: string) => admin.delete(`/admin/tables/${path}?confirm=true`)
  for (const path of [`${ids.teams}/fields/area`, `${ids.members}/fields/group`, `${ids.guests}/fields/name`]) {
    const response = await drop(path)
    expectError(t, response, 409, 'STRUCTURE_IN_USE')
    t.match(response.json().error.message, /needy/)
  }
  const dropTable = (table: number) => admin.delete(`/admin/tables/${table}?confirm=true&drop=true`)
  const response = await dropTable(ids.teams as number)
  expectError(t, response, 409, 'STRUCTURE_IN_USE')
  t.match(response.json().error.message, /^Roles need 'teams': .*'needy'\.$/)
  for (const role of dataOf(await admin.get('/admin/roles'))) {
    if (role.tokens === 0) dataOf(await admin.delete(`/admin/roles/${role.id}`))
    else dataOf(await admin.put(`/admin/roles/${role.id}`, { grants: [] }))
  }
  expectError(t, await admin.get(`/admin/roles/${id}`), 404, 'ROLE_NOT_FOUND')
  dataOf(await drop(`${ids.guests}/fields/name`))
})
