import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { temporaryDirectory } from '../fixtures.ts'

/** Returns the path of rqlited: that of the variable RQLITED, or one in PATH. undefined: there is none. */
export const findRqlited = (): string | undefined => {
  const { RQLITED, PATH = '' } = process.env
  if (RQLITED) return RQLITED
  return PATH.split(delimiter)
    .map((directory) => join(directory, 'rqlited'))
    .find(existsSync)
}

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** The timeouts of deploy/cluster/docker-compose.yml. */
const TIMEOUTS = ['election', 'heartbeat', 'leader-lease'].flatMap((name) => [`-raft-${name}-timeout`, '200ms'])

export interface Node {
  readonly url: string
  /** Resolves when the node takes requests. */
  start(): Promise<void>
  kill(signal: NodeJS.Signals): Promise<void>
  /** Stops the process without ending it, and continues it after a time. */
  pause(milliseconds: number): Promise<void>
  isRunning(): boolean
}

interface NodeOptions {
  readonly rqlited: string
  readonly id: number
  readonly http: number
  readonly raft: number
  readonly directory: string
  /** The addresses at which the nodes find each other at the first start. */
  readonly join: readonly string[]
}

const isReady = (url: string) =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(500) }).then(
    ({ status }) => status === 200,
    () => false
  )

const createNode = ({ rqlited, id, http, raft, directory, join: others }: NodeOptions): Node => {
  const url = `http://127.0.0.1:${http}`
  const addresses = ['-http-addr', `127.0.0.1:${http}`, '-raft-addr', `127.0.0.1:${raft}`]
  const members = others.length > 1 ? ['-bootstrap-expect', String(others.length), '-join', others.join(',')] : []
  let child: ChildProcess | undefined
  return {
    url,
    start: async () => {
      child = spawn(rqlited, [...addresses, '-node-id', String(id), '-fk', ...TIMEOUTS, ...members, directory], {
        stdio: 'ignore'
      })
      while (!(await isReady(url))) await delay(50)
    },
    kill: async (signal) => {
      if (!child) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
      child = undefined
    },
    pause: async (milliseconds) => {
      child?.kill('SIGSTOP')
      await delay(milliseconds)
      child?.kill('SIGCONT')
    },
    isRunning: () => child !== undefined
  }
}

/** Starts nodes of a cluster. They are killed, and their files removed, when `t` ends. */
export const startNodes = async (t: Test, rqlited: string, count: number): Promise<readonly Node[]> => {
  const ports: number[] = []
  while (ports.length < 2 * count) ports.push(await freePort())
  const raftOf = (index: number) => ports[count + index] as number
  const join = Array.from({ length: count }, (_, index) => `127.0.0.1:${raftOf(index)}`)
  const nodes = join.map((_, index) =>
    createNode({
      rqlited,
      id: index + 1,
      http: ports[index] as number,
      raft: raftOf(index),
      directory: temporaryDirectory(t),
      join
    })
  )
  t.teardown(() => Promise.all(nodes.filter((node) => node.isRunning()).map((node) => node.kill('SIGKILL'))))
  await Promise.all(nodes.map((node) => node.start()))
  return nodes
}

/** Returns the leader, when there is one. */
export const findLeader = async (nodes: readonly Node[]): Promise<Node> => {
  for (;;) {
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
