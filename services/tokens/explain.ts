import type { Explanation, ExplanationRequest } from '../../schemas/token-explanation.ts'
import type { TableAction } from '../model/actions.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError, excerpt, hasCode, invalid, tableNotFound } from '../model/errors.ts'
import type { Registration } from '../model/table.ts'
import type { Access } from '../records/access/access.ts'
import type { AccessOf } from '../records/access/access-of.ts'
import type { Read } from '../records/read/read.ts'
import type { Decision, KeyRights } from '../roles/key-rights.ts'
import { recordsInWords, valueInWords } from '../roles/rule-words.ts'
import { openToTokens } from '../tables/token-access.ts'
import { authorize } from './authorize.ts'
import type { LiveToken } from './live-token.ts'

interface ExplainOptions {
  readonly clock: Clock
  readonly tokens: { readonly find: (id: number) => LiveToken }
  /** Returns the registered table of a name in a path. */
  readonly findTable: (name: string) => Registration | undefined
  readonly decisionOf: KeyRights['decisionOf']
  readonly accessOf: AccessOf
  readonly read: Read
}

/** One token, one table and one action. */
interface Subject {
  readonly token: LiveToken
  readonly table: Registration
  readonly action: TableAction
  readonly decision: Decision | undefined
}

/** What a request of the token would get. */
interface Outcome {
  /** null: the request is refused. */
  readonly access: Access | null
  readonly reason: string
}

/** In a schema, generators would need another enum with the same values. */
const SEVERAL_ACTIONS = {
  path: '/action',
  code: 'format',
  message: "'write' is several actions. Explain 'create', 'update', 'delete' and 'schema' one by one."
}

/** The actions that use a record with a key. */
const ON_RECORDS: readonly TableAction[] = ['read', 'update', 'delete']

/** Returns the access to the table as a request of the token gets it. @throws the error that it gets */
const openTable = ({ token, table, action }: Subject, caller: Caller, accessOf: AccessOf): Access => {
  authorize(token, action, table.name)
  return accessOf(caller, openToTokens(table, table.name, { isWrite: action !== 'read', reachable: () => [] }), [
    action
  ])
}

const positionOf = ({ role, grant }: Decision) => role.grants.indexOf(grant) + 1

const nameOf = (decision: Decision) => `Grant ${positionOf(decision)} of the role '${excerpt(decision.role.name)}'`

const allowedBy = ({ action, table, decision }: Subject) =>
  decision
    ? `${nameOf(decision)} opens the action '${action}' on the table '${table.name}'.`
    : `The permissions of the token include the action '${action}' on the table '${table.name}'.`

/** Returns why a request is refused. The message of the error does not say more than the token may know. */
const refusedBy = ({ table, decision }: Subject, error: DomainError) => {
  if (decision?.closed)
    return `${nameOf(decision)} opens nothing in the table '${table.name}': ${decision.closed.message}`
  return error.code === 'TABLE_NOT_FOUND' ? `The table '${table.name}' is not published.` : error.message
}

const describeGrant = (decision: Decision) => ({
  role: decision.role.name,
  position: positionOf(decision),
  tables: [...decision.grant.tables],
  actions: [...decision.grant.actions]
})

const recordsOf = (decision: Decision | undefined, access: Access | null) => {
  if (decision) return recordsInWords(decision.grant.rows, decision.claims)
  return access ? 'All records.' : 'No records.'
}

const presetsOf = ({ grant: { presets = {} }, claims }: Decision) =>
  Object.entries(presets).map(([field, value]) => ({ field, value: valueInWords(value, claims) }))

/** Returns the fields that the action can set. The key of a record does not change. */
const writableOf = ({ action }: Subject, access: Access | null) => {
  if (!access || !['create', 'update'].includes(action)) return []
  return [...access.writable].filter(({ isPrimary }) => action === 'create' || !isPrimary).map(({ name }) => name)
}

/** Creates the function that explains the rights of a token. It calls the functions that a request of the token calls. */
export const createExplain = ({ clock, tokens, findTable, decisionOf, accessOf, read }: ExplainOptions) => {
  const outcomeOf = (subject: Subject, caller: Caller): Outcome => {
    try {
      return { access: openTable(subject, caller, accessOf), reason: allowedBy(subject) }
    } catch (error) {
      if (error instanceof DomainError) return { access: null, reason: refusedBy(subject, error) }
      throw error
    }
  }

  /** Returns the fields that a response to the action has. A change of a record returns it only to a token that can read. */
  const readableOf = (subject: Subject, caller: Caller, access: Access | null) => {
    if (!access || subject.action === 'schema') return []
    const returning = ['read', 'create'].includes(subject.action)
      ? access
      : outcomeOf({ ...subject, action: 'read' }, caller).access
    return [...(returning?.columns.keys() ?? [])]
  }

  /** Returns why each request of the token gets 401; undefined if none does. */
  const invalidityOf = ({ isActive, expiresAt }: LiveToken) => {
    if (!isActive) return 'The token is not active, so each of its requests gets 401.'
    return expiresAt !== null && expiresAt <= clock()
      ? 'The token has expired, so each of its requests gets 401.'
      : undefined
  }

  const finds = async (caller: Caller, access: Access, key: string) => {
    try {
      await read(caller, access, key)
      return true
    } catch (error) {
      if (hasCode(error, 'RECORD_NOT_FOUND')) return false
      throw error
    }
  }

  /** `access`: null if the token cannot use the record. */
  const recordOf = async (caller: Caller, { table, action }: Subject, access: Access | null, key: string) => {
    if (table.structure === null || table.isOutdated || !ON_RECORDS.includes(action)) return {}
    const [exists, isVisible] = await Promise.all([
      finds(caller, accessOf(caller, table, []), key),
      access ? finds(caller, access, key) : false
    ])
    return { record: { key, exists, isVisible } }
  }

  /** @throws VALIDATION_FAILED for `write`, TOKEN_NOT_FOUND, TABLE_NOT_FOUND */
  return async (caller: Caller, id: number, { table: name, action, key }: ExplanationRequest): Promise<Explanation> => {
    if (action === 'write') throw invalid([SEVERAL_ACTIONS])
    const token = tokens.find(id)
    const table = findTable(name)
    if (!table) throw tableNotFound(name)
    const { role } = token
    const decision = role && table.structure ? decisionOf(role, action, table) : undefined
    const subject: Subject = { token, table, action, decision }
    const asToken: Caller = { ...caller, kind: 'token', integers: token.integers, ...(role && { role }) }
    const { access, reason } = outcomeOf(subject, asToken)
    const invalidity = invalidityOf(token)
    return {
      allowed: access !== null && invalidity === undefined,
      reason: invalidity ?? reason,
      ...(decision && { grant: describeGrant(decision) }),
      rows: recordsOf(decision, access),
      readable: readableOf(subject, asToken, access),
      writable: writableOf(subject, access),
      presets: decision && action === 'create' ? presetsOf(decision) : [],
      ...(key !== undefined && (await recordOf(caller, subject, invalidity === undefined ? access : null, key)))
    }
  }
}

export type Explain = ReturnType<typeof createExplain>
