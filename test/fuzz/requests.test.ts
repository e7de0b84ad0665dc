import t, { type Test } from 'tap'
import { isOnCluster } from '../rqlite/cluster.ts'
import { scaled } from '../scale.ts'
import { createEnvironment, type Environment, updateEnvironment } from './environment.ts'
import { type GeneratedRequest, generateRequest, toHttpRequest } from './generated-request.ts'
import { type HttpRequest, type HttpResponse, MAX_CONCURRENT } from './http-client.ts'
import { mutate } from './mutations.ts'
import { faultOf, type Operation, operations } from './openapi-document.ts'
import { createRandom, SEED } from './random.ts'
import { expectSurvival } from './survival.ts'

const COUNT = scaled(70_000)
/** Requests to one service, which keeps its database small. Each round has a seed of its own. */
const ROUND = 5000
const BATCH = 4 * MAX_CONCURRENT

/** Returns true for a request that would change or delete the credentials of the test. */
const endsCredentials = ({ method, target }: HttpRequest) => {
  try {
    if (decodeURIComponent(target).includes('include=access')) return true
    return method !== 'GET' && /^\/admin\/(?:tokens|admins)\/1(?![0-9])/.test(decodeURIComponent(target))
  } catch {
    return false
  }
}

/**
 * Returns true for a HEAD request with a large head. Node rejects it before it parses the method, so the response has a
 * body, which no client expects.
 */
const isLargeHead = ({ method, target, headers }: HttpRequest) =>
  method === 'HEAD' && target.length + Object.values(headers).join('').length > 50_000

const excerpt = (text: string | Buffer | undefined) => String(text ?? '').slice(0, 2000)

/** The number of responses by operation and status. */
const counts = new Map<string, Map<number, number>>()

const count = (operationId: string, status: number) => {
  const statuses = counts.get(operationId) ?? new Map<number, number>()
  counts.set(operationId, statuses.set(status, (statuses.get(status) ?? 0) + 1))
}

/** Returns a text such as `200: 1234, 400: 567`. */
const summary = () => {
  const totals = new Map<number, number>()
  for (const statuses of counts.values())
    for (const [status, times] of statuses) totals.set(status, (totals.get(status) ?? 0) + times)
  return [...totals]
    .sort()
    .map(([status, times]) => `${status}: ${times}`)
    .join(', ')
}

const check = (t: Test, { operation }: GeneratedRequest, message: HttpRequest, response: HttpResponse) => {
  const fault = faultOf({ ...message, ...response })
  if (fault !== undefined) {
    t.fail(`${message.method} ${message.target.slice(0, 80)}: ${fault}`, {
      request: { ...message, body: excerpt(message.body) },
      response: excerpt(response.body)
    })
  }
  count(operation.operationId, response.status)
}

const isImport = ({ operation }: GeneratedRequest) => /\/(?:import|from-file)$/.test(operation.path)

const generateBatch = (environment: Environment, random: ReturnType<typeof createRandom>) => {
  const batch: (readonly [GeneratedRequest, HttpRequest])[] = []
  while (batch.length < BATCH) {
    const generated = mutate(generateRequest(environment, random), random)
    const message = toHttpRequest(generated)
    // A caller has one import at a time.
    const isSecondImport = isImport(generated) && batch.some(([other]) => isImport(other))
    if (!endsCredentials(message) && !isLargeHead(message) && !isSecondImport) batch.push([generated, message])
  }
  return batch
}

const MAX_TRIES = 1000

/** Earlier requests may have ended the session, or deleted the account or the records, that an operation needs. */
const NEEDED_BEFORE: Readonly<Record<string, string>> = {
  changeOwnPassword: 'logIn',
  endOwnSession: 'logIn',
  adminUpdateAccount: 'adminCreateAccount',
  adminDeleteAccount: 'adminCreateAccount',
  adminReadToken: 'adminIssueToken',
  adminUpdateToken: 'adminIssueToken',
  adminRevokeToken: 'adminIssueToken',
  adminExplainToken: 'adminIssueToken',
  adminRotateToken: 'adminIssueToken',
  adminListTokenUses: 'adminIssueToken',
  adminViewToken: 'adminIssueToken',
  adminDropTableIndex: 'adminCreateTableIndex',
  adminDownloadBackup: 'adminCreateBackup',
  adminDeleteBackup: 'adminCreateBackup',
  adminRestoreBackup: 'adminCreateBackup',
  adminImportTables: 'adminUnregisterTable',
  adminReadRecord: 'adminCreateRecord',
  adminUpdateRecord: 'adminCreateRecord',
  adminPatchRecord: 'adminCreateRecord',
  adminDeleteRecord: 'adminCreateRecord',
  readRecord: 'createRecord',
  patchRecord: 'createRecord',
  addToRecord: 'createRecord',
  updateRecord: 'createRecord',
  deleteRecord: 'createRecord'
}
const TRIES_PER_NEEDED = 2

const operationOf = (id: string) => operations.find(({ operationId }) => operationId === id) as Operation

/** Sends requests without mutations for each operation that has not succeeded: some operations are rarely generated. */
const sendMissing = async (t: Test, environment: Environment, random: ReturnType<typeof createRandom>) => {
  // An account can only be changed in the environment that has created it.
  const needsAccount = (operationId: string) =>
    operationId === 'adminCreateAccount' && environment.adminIds.length === 0
  // The spare session may have been ended.
  const needsSession = (operationId: string) => operationId === 'logIn' && !counts.get('changeOwnPassword')?.has(200)
  const isMissing = (operationId: string) =>
    !counts.get(operationId)?.has(200) || needsAccount(operationId) || needsSession(operationId)
  const send = async (operation: Operation) => {
    const generated = generateRequest(environment, random, operation)
    const message = toHttpRequest(generated)
    if (endsCredentials(message)) return
    const response = await environment.send(message)
    check(t, generated, message, response)
    updateEnvironment(environment, operation, message, response)
  }
  for (const operation of operations) {
    for (let tries = 0; tries < MAX_TRIES && isMissing(operation.operationId); tries += 1) {
      const needed = NEEDED_BEFORE[operation.operationId]
      if (needed && tries % TRIES_PER_NEEDED === 0) await send(operationOf(needed))
      await send(operation)
    }
  }
}

const runRound = async (t: Test, seed: number, requests: number) => {
  const environment = await createEnvironment(t)
  const random = createRandom(seed)
  for (let i = 0; i < requests; i += BATCH) {
    const batch = generateBatch(environment, random)
    const responses = await Promise.all(batch.map(([, message]) => environment.send(message)))
    for (const [index, [generated, message]] of batch.entries()) {
      const response = responses[index] as HttpResponse
      check(t, generated, message, response)
      updateEnvironment(environment, generated.operation, message, response)
    }
  }
  await sendMissing(t, environment, random)
  await expectSurvival(t, environment.service)
}

t.test('every response to a generated request matches the document, and the service survives', async (t) => {
  const start = Date.now()
  for (let done = 0; done < COUNT; done += ROUND) await runRound(t, SEED + done, Math.min(ROUND, COUNT - done))
  t.comment(`${COUNT} requests in ${((Date.now() - start) / 1000).toFixed(1)} s, SEED=${SEED}`)
  t.comment(summary())
})

/** The backups of a cluster are those of rqlite. */
const isOfBackups = (id: string) => /^admin(?:Create|Upload|Download|Delete|Restore)Backup$/.test(id)

t.test('every operation has succeeded at least once', async (t) => {
  for (const { operationId: id } of operations) {
    if (!(isOnCluster && isOfBackups(id))) t.ok(counts.get(id)?.has(200), id)
  }
})
