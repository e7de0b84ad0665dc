// Lets Rowhouse read the structure of a table again, after a migration. Fails unless programs can then see the new field.
// Needs no package, and an admin key with the scopes tables:read and tables:write:
//
//   URL=http://127.0.0.1:3000 ROWHOUSE_ADMIN_KEY=rha_… node refresh.js products weight
const { URL, ROWHOUSE_ADMIN_KEY } = process.env
const [name, field] = process.argv.slice(2)

const call = async (method, path) => {
  const headers = { authorization: `Bearer ${ROWHOUSE_ADMIN_KEY}` }
  const response = await fetch(`${URL}${path}`, { method, headers })
  const { success, data, error } = await response.json()
  if (!success) throw new Error(`${method} ${path}: ${error.code}. ${error.message} ${error.hint ?? ''}`)
  return data
}

const tables = await call('GET', '/admin/tables')
const table = tables.find((one) => one.name === name)
if (!table) throw new Error(`The table '${name}' is not registered.`)

const { fields } = await call('POST', `/admin/tables/${table.id}/refresh`)
const added = fields.find((one) => one.name === field)
if (!added) throw new Error(`The table '${name}' has no field '${field}'.`)
if (added.isHidden)
  throw new Error(`The field '${field}' is hidden, because the table hides others. Show it in the console.`)
console.log(`Refreshed: ${name} has the field ${field} (${added.jsonType}).`)
