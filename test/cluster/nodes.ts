import { setTimeout as delay } from 'node:timers/promises'
import type { Node } from '../../bench/nodes.ts'

/** Resolves with the leader as soon as there is one. Rejects after 30 s. */
export const waitForLeader = async (nodes: readonly Node[]): Promise<Node> => {
  for (const start = performance.now(); performance.now() - start < 30_000; ) {
    for (const node of nodes.filter((other) => other.isRunning())) {
      const response = await fetch(`${node.url}/leader?timeout=300ms`, { signal: AbortSignal.timeout(500) }).catch(
        () => null
      )
      if (response?.status !== 200) continue
      const { api_addr } = (await response.json()) as { api_addr?: string }
      const leader = nodes.find(({ url, isRunning }) => url === api_addr && isRunning())
      if (leader) return leader
    }
    await delay(50)
  }
  throw new Error('The nodes have elected no leader.')
}

type Values = readonly (readonly unknown[])[]

/** Returns the rows that one node has stored itself. */
export const readNode = async ({ url }: Node, sql: string): Promise<Values> => {
  const response = await fetch(`${url}/db/query?level=none&blob_array`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([sql])
  })
  const { results } = (await response.json()) as { results: readonly [{ values?: Values; error?: string }] }
  if (results[0].error) throw new Error(`${sql}: ${results[0].error}`)
  return results[0].values ?? []
}

/** Runs a statement on all nodes, as another client would. */
export const executeOn = async ({ url }: Node, sql: string) => {
  const response = await fetch(`${url}/db/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([sql])
  })
  const { results } = (await response.json()) as { results: readonly [{ error?: string }] }
  if (results[0].error) throw new Error(`${sql}: ${results[0].error}`)
}
