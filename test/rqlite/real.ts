import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { temporaryDirectory } from '../fixtures.ts'

const isExecutable = (path: string) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const { RQLITED, PATH = '' } = process.env

/** The path of rqlited: from the variable RQLITED, or in PATH. Undefined without one. */
export const rqlited =
  RQLITED ??
  PATH.split(delimiter)
    .map((path) => join(path, 'rqlited'))
    .find(isExecutable)

/** Returns ports that are free. All are open at once, so that they differ. */
const freePorts = async (count: number) => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

const TIMEOUTS = ['election', 'heartbeat', 'leader-lease'].flatMap((name) => [`-raft-${name}-timeout`, '200ms'])

const isReady = async (url: string) => {
  const response = await fetch(`${url}/readyz`).catch(() => null)
  await response?.text()
  return response?.status === 200
}

const MAX_START_MS = 20_000

const waitUntilReady = async (url: string, process: ChildProcess) => {
  const end = Date.now() + MAX_START_MS
  while (!(await isReady(url))) {
    if (process.exitCode !== null || Date.now() > end) throw new Error('rqlited did not start.')
    await wait(50)
  }
}

interface Node {
  readonly id: number
  readonly http: string
  readonly raft: string
  readonly directory: string
}

/** Starts the process of a node. All nodes but the first join the first. */
const startNode = (t: Test, { id, http, raft, directory }: Node, first: Node) => {
  const join = id === first.id ? [] : ['-join', first.raft]
  const args = ['-fk', ...TIMEOUTS, '-node-id', `${id}`, '-http-addr', http, '-raft-addr', raft, ...join, directory]
  const process = spawn(String(rqlited), args, { stdio: 'ignore' })
  t.teardown(async () => {
    if (process.exitCode !== null || process.signalCode !== null) return
    const ended = once(process, 'exit')
    process.kill('SIGKILL')
    await ended
  })
  return process
}

/** Starts a cluster of real nodes until `t` ends, and returns their URLs and processes. Needs `rqlited`. */
export const startRqlited = async (t: Test, { nodes: count }: { readonly nodes: 1 | 3 } = { nodes: 1 }) => {
  const ports = await freePorts(2 * count)
  const nodes = Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    http: `127.0.0.1:${ports[2 * i]}`,
    raft: `127.0.0.1:${ports[2 * i + 1]}`,
    directory: temporaryDirectory(t)
  }))
  const [first] = nodes
  if (!first) throw new Error('A cluster has at least one node.')
  const processes: ChildProcess[] = []
  for (const node of nodes) {
    const process = startNode(t, node, first)
    processes.push(process)
    await waitUntilReady(`http://${node.http}`, process)
  }
  const urls = nodes.map(({ http }) => `http://${http}`)
  return { url: `http://${first.http}`, urls, processes }
}
