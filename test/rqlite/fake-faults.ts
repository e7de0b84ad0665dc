/**
 * What happens to a request. `lose-request` stores nothing; `lose-response` stores all. Both end the connection. `refuse`: the
 * response of a proxy.
 */
export type Fault =
  | { readonly kind: 'lose-request' | 'lose-response' | 'no-leader' | 'refuse' }
  | { readonly kind: 'hold-request' | 'hold-response'; readonly until: Promise<unknown>; readonly arrive: () => void }

export type FaultPath = '/db/execute' | '/db/query' | '/readyz' | '/status' | '/leader'

interface Hold {
  /** Resolves when the request is held. */
  readonly arrived: Promise<void>
  /** Lets the request continue. */
  readonly release: () => void
}

const deferred = () => {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** Returns functions that add faults. Each fault is for the next request of its path, after those that were added. */
export const createFaults = () => {
  const pending: { path: string; fault: Fault }[] = []
  const add = (path: FaultPath, fault: Fault) => {
    pending.push({ path, fault })
  }
  const hold = (kind: 'hold-request' | 'hold-response', path: FaultPath): Hold => {
    const [arrived, released] = [deferred(), deferred()]
    add(path, { kind, until: released.promise, arrive: arrived.resolve })
    return { arrived: arrived.promise, release: released.resolve }
  }
  const delay = (milliseconds: number, path: FaultPath = '/db/execute') => {
    const { arrived, release } = hold('hold-request', path)
    arrived.then(() => setTimeout(release, milliseconds))
  }
  const take = (path: string) => {
    const index = pending.findIndex((one) => one.path === path)
    return index < 0 ? undefined : pending.splice(index, 1)[0]?.fault
  }
  const faults = {
    /** Nothing is stored, and the connection ends. */
    loseRequest: (path: FaultPath = '/db/execute') => add(path, { kind: 'lose-request' }),
    /** The request runs, and the connection ends without a response. */
    loseResponse: (path: FaultPath = '/db/execute') => add(path, { kind: 'lose-response' }),
    /** The response is 503 `leader not found`. */
    noLeader: (path: FaultPath = '/db/execute') => add(path, { kind: 'no-leader' }),
    /** The response is 413, and nothing is stored. */
    refuse: (path: FaultPath = '/db/execute') => add(path, { kind: 'refuse' }),
    delay,
    /** The request waits before it runs. */
    holdRequest: (path: FaultPath = '/db/execute') => hold('hold-request', path),
    /** The request runs, and its response waits. */
    holdResponse: (path: FaultPath = '/db/execute') => hold('hold-response', path)
  }
  return { faults, take }
}
