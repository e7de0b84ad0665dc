import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Returns the path of rqlited: that of the variable RQLITED, or one in PATH. undefined: there is none. */
export const findRqlited = (): string | undefined => {
  const { RQLITED, PATH = '' } = process.env
  const paths = PATH.split(delimiter).map((directory) => join(directory, 'rqlited'))
  return RQLITED ?? paths.find(existsSync)
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

const waitUntilReady = async (url: string) => {
  while (true) {
    const response = await fetch(`${url}/readyz`).catch(() => null)
    if (response?.status === 200) return
    await delay(50)
  }
}

const loadFile = async (url: string, file: string) => {
  const headers = { 'content-type': 'application/octet-stream' }
  const response = await fetch(`${url}/db/load`, { method: 'POST', headers, body: readFileSync(file) })
  if (!response.ok) throw new Error(`The database was not loaded into the cluster: ${await response.text()}`)
}

/** Starts nodes of a cluster on this machine. */
export const startNodes = async (rqlited: string, count: number, directory: string) => {
  const root = mkdtempSync(join(directory, 'rowhouse-nodes-'))
  const ports: number[] = []
  while (ports.length < 2 * count) ports.push(await freePort())
  const members = ports.slice(count).map((port) => `127.0.0.1:${port}`)
  const joining = count > 1 ? ['-bootstrap-expect', String(count), '-join', members.join(',')] : []
  const processes: ChildProcess[] = members.map((raft, index) =>
    spawn(
      rqlited,
      ['-node-id', `${index + 1}`, '-http-addr', `127.0.0.1:${ports[index]}`, '-raft-addr', raft, '-fk', ...TIMEOUTS]
        .concat(joining)
        .concat(join(root, `${index + 1}`)),
      { stdio: 'ignore' }
    )
  )
  const urls = ports.slice(0, count).map((port) => `http://127.0.0.1:${port}`)
  for (const url of urls) await waitUntilReady(url)
  return {
    urls,
    load: (file: string) => loadFile(urls[0] as string, file),
    stop: async () => {
      const ended = processes.map((process) => once(process, 'exit'))
      for (const process of processes) process.kill('SIGKILL')
      await Promise.all(ended)
      rmSync(root, { recursive: true })
    }
  }
}
