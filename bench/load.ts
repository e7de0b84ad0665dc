import type { HttpRequest } from './workloads.ts'

/** The requests that a generator sends, and their destination. */
export interface Requests {
  readonly address: string
  readonly token: string
  /** Sent in order and repeatedly, spread over the connections. */
  readonly requests: readonly HttpRequest[]
}

/** How many connections send requests, and for how long. */
export interface Amount {
  readonly connections: number
  readonly seconds: number
}

export type Load = Requests & Amount

/** The counts of a generator. They are valid only if `failures` is 0. */
export interface LoadResult {
  readonly completed: number
  readonly seconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** CPU time of the generator's own process. */
  readonly cpuSeconds: number
  /** Responses other than 2xx, and requests without a response. */
  readonly failures: number
}

/** A program that sends requests from its own process. */
export interface Generator {
  readonly name: string
  /** Prepares requests, and returns a function that sends them. `directory` is for the files that a generator needs. */
  prepare(requests: Requests, directory: string): (amount: Amount) => Promise<LoadResult>
}

export const headersOf = (token: string, { body, token: own = token }: HttpRequest): Record<string, string> => ({
  authorization: `Bearer ${own}`,
  ...(body !== undefined && { 'content-type': 'application/json' })
})
