export const PASSWORD = 'correct horse battery staple'

const json = { 'content-type': 'application/json' }

const assertSuccess = async (response: Response) => {
  if (!response.ok) throw new Error(`${response.url} returned ${response.status}: ${await response.text()}`)
  return response
}

/** Logs in. Returns the cookie header of the session. */
export const logIn = async (address: string) => {
  const body = JSON.stringify({ name: 'admin', password: PASSWORD })
  const response = await assertSuccess(await fetch(`${address}/auth/login`, { method: 'POST', headers: json, body }))
  await response.text()
  return {
    cookie: response.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; ')
  }
}

interface ResponseBody {
  readonly data: { readonly id: number; readonly token: string; readonly next: string }
}

/** The boundary where a response of the service gets its type. */
const post = async (url: string, headers: Record<string, string>, body: unknown) => {
  const response = await fetch(url, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
  return (await (await assertSuccess(response)).json()) as ResponseBody
}

/** Registers existing tables and issues a token that may read and write them. */
export const registerTables = async (address: string, tables: readonly string[]) => {
  const session = await logIn(address)
  const ids: number[] = []
  for (const name of tables) ids.push((await post(`${address}/admin/tables/import`, session, { name })).data.id)
  const permissions = { tables, actions: ['read', 'write'] }
  const issued = await post(`${address}/admin/tokens`, session, { name: 'benchmark', permissions })
  return { session, ids, token: issued.data.token }
}

export const createRole = (address: string, session: Record<string, string>, role: object) =>
  post(`${address}/admin/roles`, session, role)

/** Issues a token and returns it. */
export const issueKey = async (address: string, session: Record<string, string>, key: object) =>
  (await post(`${address}/admin/tokens`, session, key)).data.token

/** Returns the body of a GET with a token, as text. */
export const readText = async (url: string, token: string) =>
  (await assertSuccess(await fetch(url, { headers: { authorization: `Bearer ${token}` } }))).text()

export const aggregateRecords = (url: string, token: string, body: object) =>
  post(url, { authorization: `Bearer ${token}` }, body)

/** Sends a batch, and reads the response without parsing it. */
export const sendBatch = async (url: string, token: string, body: string) => {
  const headers = { ...json, authorization: `Bearer ${token}` }
  await (await assertSuccess(await fetch(url, { method: 'POST', headers, body }))).arrayBuffer()
}

/** Imports a file of JSON lines, and reads the response without parsing it. */
export const sendFile = async (url: string, token: string, body: string) => {
  const headers = { 'content-type': 'application/x-ndjson', authorization: `Bearer ${token}` }
  await (await assertSuccess(await fetch(url, { method: 'POST', headers, body }))).arrayBuffer()
}

/** Runs a query. Returns the cursor of the next page. */
export const queryRecords = async (url: string, token: string, body: object) =>
  (await post(url, { authorization: `Bearer ${token}` }, body)).data.next

interface TableBody {
  readonly data: { readonly searchIndex: { readonly state: string } }
}

export const switchOnSearchIndex = async (address: string, session: Record<string, string>, id: number) => {
  const body = JSON.stringify({ searchIndex: true })
  await assertSuccess(
    await fetch(`${address}/admin/tables/${id}`, { method: 'PUT', headers: { ...json, ...session }, body })
  )
}

export const readSearchIndex = async (address: string, session: Record<string, string>, id: number) => {
  const response = await assertSuccess(await fetch(`${address}/admin/tables/${id}`, { headers: session }))
  return ((await response.json()) as TableBody).data.searchIndex
}

interface BackedUpService {
  readonly service: { readonly address: string }
  readonly session: Record<string, string>
}

const backupsUrl = ({ service }: BackedUpService) => `${service.address}/admin/backups`

interface BackupBody {
  readonly data: { readonly name: string; readonly before: { readonly name: string } }
}

const callBackups = async (service: BackedUpService, method: string, path = '') => {
  const response = await assertSuccess(
    await fetch(`${backupsUrl(service)}${path}`, { method, headers: service.session })
  )
  return (await response.json()) as BackupBody
}

/** Returns the name of the new backup. */
export const makeBackup = async (service: BackedUpService) => (await callBackups(service, 'POST')).data.name

export const deleteBackup = (service: BackedUpService, name: string) => callBackups(service, 'DELETE', `/${name}`)

/** Returns the name of the backup of the state before. */
export const restoreBackup = async (service: BackedUpService, name: string) =>
  (await callBackups(service, 'POST', `/${name}/restore`)).data.before.name

/** Makes a backup, and deletes it. */
export const createBackup = async (service: BackedUpService) => {
  await deleteBackup(service, await makeBackup(service))
}

/** Sends a request. Returns whether it succeeded. */
export const isAccepted = async (url: string, token: string, body: object) => {
  const headers = { ...json, authorization: `Bearer ${token}` }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  await response.text()
  return response.ok
}
