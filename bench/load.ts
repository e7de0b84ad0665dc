import type { HttpRequest } from './workloads.ts'

/** What is asked of a service. */
export interface Requests {
  readonly address: string
  readonly token: string
  /** Sent in order and over again, spread over the connections. */
  readonly requests: readonly HttpRequest[]
}

/** How much of it is asked. */
export interface Amount {
  readonly connections: number
  readonly seconds: number
}

export type Load = Requests & Amount

/** What a generator has counted. It is of no use where `failures` is not 0. */
export interface LoadResult {
  readonly completed: number
  readonly seconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** CPU time of the generator's own process. */
  readonly cpuSeconds: number
  /** Answers other than 2xx, and requests without an answer. */
  readonly failures: number
}

/** Makes load from a process of its own. */
export interface Generator {
  readonly name: string
  /** Makes requests ready, in files of this directory where it needs some; they may be sent any number of times. */
  prepare(requests: Requests, directory: string): (amount: Amount) => Promise<LoadResult>
}

export const headersOf = (token: string, { body }: HttpRequest): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(body !== undefined && { 'content-type': 'application/json' })
})
