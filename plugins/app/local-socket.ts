import { existsSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type Config, databaseOf } from '../../config.ts'
import { digestOf } from '../../services/engine/served-file-digest.ts'
import { markLocal } from '../http/local-connections.ts'

/** Bytes of the path of a Unix socket. Linux takes 107, macOS 103. */
const MAX_PATH_BYTES = 100
const OTHERS_PERMISSIONS = 0o077
/** Time to accept the connections that wait when the socket is closed. */
const ACCEPT_MS = 100

const folderOfLongPaths = () => join(tmpdir(), `rowhouse-${userInfo().uid}`)

/**
 * Returns the path of the socket through which commands on this machine reach the service of a database. Services may share
 * a data directory, so the name has a digest of the path of the database.
 */
export const localSocketPath = (config: Pick<Config, 'DATABASE' | 'DATA_DIR'>) => {
  const path = join(resolve(config.DATA_DIR), `rowhouse-${digestOf(databaseOf(config))}.sock`)
  return Buffer.byteLength(path) <= MAX_PATH_BYTES ? path : join(folderOfLongPaths(), `${digestOf(path)}.sock`)
}

/** @throws an Error with the reason */
const assertPrivate = (folder: string) => {
  const stats = lstatSync(folder)
  const isOwn = stats.isDirectory() && stats.uid === userInfo().uid && (stats.mode & OTHERS_PERMISSIONS) === 0
  if (!isOwn) throw new Error(`${folder} is not a directory that only this user can open.`)
}

/**
 * Checks the folder of a long path. Without it, another user could listen there for commands.
 * @throws an Error if another user can open it
 */
export const checkFolder = (path: string) => {
  const folder = folderOfLongPaths()
  if (path.startsWith(join(folder, '/')) && existsSync(folder)) assertPrivate(folder)
}

const prepareFolder = (path: string) => {
  const folder = folderOfLongPaths()
  if (path.startsWith(join(folder, '/'))) mkdirSync(folder, { recursive: true, mode: 0o700 })
  checkFolder(path)
}

/** Only this user can open the socket. The mode of the process applies when the socket is created. */
const listenPrivately = (server: Server, path: string) =>
  new Promise<void>((settle, reject) => {
    server.once('error', reject)
    const mode = process.umask(0o177)
    server.listen(path, settle)
    process.umask(mode)
  })

/**
 * Listens on the local socket. The holder of the lock of the database calls this, so a socket that exists is that of a process
 * that has ended. Returns the function that stops it, and resolves when all connections have ended.
 * @throws an Error with the reason if the socket cannot be created, such as on a file system without sockets
 */
export const listenLocally = async (app: FastifyInstance) => {
  const path = localSocketPath(app.config)
  prepareFolder(path)
  rmSync(path, { force: true })
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    markLocal(socket)
    // The HTTP server handles it like a connection of its own, with the same limits and hooks.
    app.server.emit('connection', socket)
  })
  await app.ready()
  await listenPrivately(server, path)
  return async () => {
    // No other connection can follow. Those that wait would be reset: Node accepts one in each tick.
    rmSync(path, { force: true })
    await delay(ACCEPT_MS)
    await new Promise<void>((settle) => server.close(() => settle()))
  }
}
