import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Returns the path of rqlited: that of the variable RQLITED, or one in PATH. undefined: there is none. */
export const findRqlited = (): string | undefined => {
  const { RQLITED, PATH = '' } = process.env
  const paths = PATH.split(delimiter).map((directory) => join(directory, 'rqlited'))
  return RQLITED ?? paths.find(existsSync)
}

/** Returns ports that are free. All are open at once, so that they differ. */
const freePorts = async (count: number) => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** The timeouts of deploy/cluster/docker-compose.yml. */
const TIMEOUTS = ['election', 'heartbeat', 'leader-lease'].flatMap((name) => [`-raft-${name}-timeout`, '200ms'])

/** A node of a cluster, in a process of its own. */
export interface Node {
  readonly url: string
  /** Resolves when the node takes requests. Rejects if its process ends before. */
  start(): Promise<void>
  kill(signal: NodeJS.Signals): Promise<void>
  /** Stops the process without ending it, and continues it after a time. */
  pause(milliseconds: number): Promise<void>
  isRunning(): boolean
}

const isReady = (url: string) =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(500) }).then(
    ({ status }) => status === 200,
    () => false
  )

/** `args`: all but the addresses of HTTP. */
const createNode = (rqlited: string, address: string, args: readonly string[]): Node => {
  const url = `http://${address}`
  let child: ChildProcess | undefined
  return {
    url,
    start: async () => {
      const started = spawn(rqlited, ['-http-addr', address, ...args], { stdio: 'ignore' })
      child = started
      const end = () => {
        child = undefined
      }
      started.once('exit', end).once('error', end)
      while (!(await isReady(url))) {
        if (child !== started) throw new Error('rqlited did not start.')
        await delay(50)
      }
    },
    kill: async (signal) => {
      if (!child) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
    pause: async (milliseconds) => {
      child?.kill('SIGSTOP')
      await delay(milliseconds)
      child?.kill('SIGCONT')
    },
    isRunning: () => child !== undefined
  }
}

/** Creates the nodes of a cluster on this machine. Their files are in the directory. */
export const createNodes = async (rqlited: string, count: number, directory: string): Promise<readonly Node[]> => {
  const addresses = (await freePorts(2 * count)).map((port) => `127.0.0.1:${port}`)
  const members = addresses.slice(count)
  const joining = count > 1 ? ['-bootstrap-expect', String(count), '-join', members.join(',')] : []
  return members.map((raft, index) => {
    const id = String(index + 1)
    const args = ['-node-id', id, '-raft-addr', raft, '-fk', ...TIMEOUTS, ...joining, join(directory, `node${id}`)]
    return createNode(rqlited, addresses[index] as string, args)
  })
}

/** Starts nodes together: the first ones take no requests before the others have joined. */
export const startAll = (nodes: readonly Node[]) => Promise.all(nodes.map((node) => node.start()))

export const killAll = (nodes: readonly Node[]) => Promise.all(nodes.map((node) => node.kill('SIGKILL')))

/** Replaces what a cluster has by a SQLite file. */
export const loadFile = async ({ url }: Node, file: string) => {
  const headers = { 'content-type': 'application/octet-stream' }
  const response = await fetch(`${url}/db/load`, { method: 'POST', headers, body: readFileSync(file) })
  if (!response.ok) throw new Error(`The database was not loaded into the cluster: ${await response.text()}`)
}
