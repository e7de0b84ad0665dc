import type { Claims } from '../../schemas/role.ts'
import type { IntegerFormat } from '../../schemas/token.ts'

/** The Idempotency-Key of a request: a request that is repeated with its key has no second effect. */
export interface RetryKey {
  readonly key: string
  /** A digest of the request. */
  readonly digest: string
  /** Called if the result is that of an earlier request. */
  readonly onReplay: () => void
}

/** The role of a key, with the claims of the key. Immutable. Keys with the same role and claims may share it. */
export interface KeyRole {
  readonly id: number
  readonly claims: Claims
}

/** The client of a service call, for one request. It is the first argument of each call that reads or writes. */
export interface Caller {
  readonly kind: 'token' | 'admin' | 'key' | 'local' | 'anonymous' | 'service'
  /** The id of the token, administrator or admin key; 0 for the other kinds, and for a token that Rowhouse has not issued. */
  readonly id: number
  /** The name of the token, administrator or admin key. Unique among the callers of a kind whose id is 0. */
  readonly name: string
  readonly requestId: string
  /** How integers appear in JSON for this caller. */
  readonly integers: IntegerFormat
  /** The client's network address; empty for the service itself, and on the local socket. */
  readonly address: string
  /**
   * Checks the caller's right again: before a retry, and before the rows of a scan are returned. Rejects if the right
   * has ended since the request began, or if the client has disconnected.
   */
  confirm(): Promise<void>
  /** Returns a signal that aborts when the client disconnects. Absent: the call has no client, or does not end with it. */
  clientSignal?(): AbortSignal
  /** Like `confirm`, but also for a client that has disconnected: for work that must not end halfway. */
  confirmRight(): Promise<void>
  /** Whether the caller has the right to read the records of this table now. */
  mayRead(table: string): boolean
  /** Absent for a caller that no role limits. */
  readonly role?: KeyRole
  /** Absent without an Idempotency-Key. */
  readonly retryKey?: RetryKey
}

/** Returns the text that identifies a caller: in limits, and for what is stored for the caller. */
export const identityOf = ({ kind, id, name }: Pick<Caller, 'kind' | 'id' | 'name'>) =>
  id === 0 ? `${kind} ${id} ${name}` : `${kind} ${id}`

export interface AdminCaller extends Caller {
  readonly kind: 'admin'
  readonly sessionId: string
}

/** The operator of the machine, who calls through the local socket. */
export interface LocalCaller extends Caller {
  readonly kind: 'local'
}

/** Who may administer the installation. */
export type Administrator = AdminCaller | LocalCaller

/** The service itself, at start and in the background. */
export const serviceCaller: Caller = {
  kind: 'service',
  id: 0,
  name: 'rowhouse',
  requestId: '',
  integers: 'auto',
  address: '',
  confirm: async () => {},
  confirmRight: async () => {},
  mayRead: () => true
}
