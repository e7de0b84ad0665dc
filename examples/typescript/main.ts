import createClient from 'openapi-fetch'
import type { paths } from './api.js'

const baseUrl = process.env.URL ?? 'http://127.0.0.1:3000'
const password = process.env.PASSWORD
if (!password) throw new Error('Set PASSWORD to the password of the administrator.')

/** The results of openapi-fetch: `data` after a success, `error` after a failure. */
interface Result<T> {
  data?: { data: T }
  error?: { error: { code: string; message: string } }
}

/** Returns the data of a success. @throws with the code of the failure */
const dataOf = <T>({ data, error }: Result<T>): T => {
  if (error) throw new Error(`${error.error.code}: ${error.error.message}`)
  if (!data) throw new Error('The response has no body.')
  return data.data
}

/** Logs in and returns a client for administrators. Node's fetch keeps no cookies, so the client sends the cookie. */
const logIn = async (name: string, password: string) => {
  const result = await createClient<paths>({ baseUrl }).POST('/auth/login', { body: { name, password } })
  dataOf(result)
  const [cookie = ''] = result.response.headers.getSetCookie()
  return createClient<paths>({ baseUrl, headers: { cookie: cookie.slice(0, cookie.indexOf(';')) } })
}

// As an administrator: create a table, and issue a token for it.
const admin = await logIn('admin', password)
dataOf(
  await admin.POST('/admin/tables', {
    body: {
      name: 'books',
      label: 'Books',
      fields: [
        { name: 'isbn', jsonType: 'string', isPrimary: true },
        { name: 'title', jsonType: 'string' },
        { name: 'copies', jsonType: 'integer', defaultValue: 1 }
      ]
    }
  })
)
const { token } = dataOf(
  await admin.POST('/admin/tokens', {
    body: { name: 'library', permissions: { tables: ['books'], actions: ['read', 'create', 'update', 'delete'] } }
  })
)

// As a program: write, read, search and increment.
const program = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
const table = 'books'
dataOf(
  await program.POST('/data/{table}/records', {
    params: { path: { table } },
    body: { isbn: '978-0-14-044926-6', title: 'The Odyssey' }
  })
)
dataOf(
  await program.POST('/data/{table}/records', {
    params: { path: { table } },
    body: { isbn: 'none/1', title: 'A notebook', copies: 3 }
  })
)

// openapi-fetch percent-encodes the key.
const book = dataOf(await program.GET('/data/{table}/records/{pk}', { params: { path: { table, pk: 'none/1' } } }))
console.log(book)

const page = dataOf(
  await program.GET('/data/{table}', { params: { path: { table }, query: { q: 'odyssey', order: '-copies' } } })
)
console.log(`${page.total} found:`, page.rows)

const { record } = dataOf(
  await program.POST('/data/{table}/incr', {
    params: { path: { table }, query: { return: 'record' } },
    body: { pk: 'none/1', field: 'copies', count: -1 }
  })
)
console.log(record)

// A failure has a stable code.
const missing = await program.GET('/data/{table}/records/{pk}', { params: { path: { table, pk: 'gone' } } })
if (missing.error?.error.code !== 'RECORD_NOT_FOUND') throw new Error('A missing record was found.')
console.log(missing.error.error.message)
