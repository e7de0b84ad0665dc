/** Who calls a service, for one request. Every service call that reads or writes takes it first. */
export interface Caller {
  readonly kind: 'token' | 'admin' | 'anonymous' | 'service'
  /** The id of the token or administrator; 0 for the other kinds. */
  readonly id: number
  /** The name of the token or administrator. */
  readonly name: string
  readonly requestId: string
  /** The client's network address; empty for the service itself. */
  readonly address: string
  /**
   * Checks the caller's right again, before a retry and before the rows of a scan leave. Rejects if the right has
   * ended since the request began, or if the client has disconnected.
   */
  confirm(): Promise<void>
}

export interface AdminCaller extends Caller {
  readonly kind: 'admin'
  readonly sessionId: string
}

/** The service itself, at start and in the background. */
export const serviceCaller: Caller = {
  kind: 'service',
  id: 0,
  name: 'rowhouse',
  requestId: '',
  address: '',
  confirm: async () => {}
}
