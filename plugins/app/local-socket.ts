import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { markLocal } from '../http/local-connections.ts'

/** Bytes of the path of a Unix socket. Linux takes 107, macOS 103. */
const MAX_PATH_BYTES = 100
const OTHERS_PERMISSIONS = 0o077

const folderOfLongPaths = () => join(tmpdir(), `rowhouse-${userInfo().uid}`)

/** Returns the path of the socket through which commands on this machine reach the service of a data directory. */
export const localSocketPath = (dataDir: string) => {
  const path = join(resolve(dataDir), 'rowhouse.sock')
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32)
  return join(folderOfLongPaths(), `${name}.sock`)
}

/** Another user could create the folder first, and read what commands send. @throws an Error with the reason */
const assertPrivate = (folder: string) => {
  const stats = lstatSync(folder)
  const isOwn = stats.isDirectory() && stats.uid === userInfo().uid && (stats.mode & OTHERS_PERMISSIONS) === 0
  if (!isOwn) throw new Error(`${folder} is not a directory that only this user can open.`)
}

const prepareFolder = (path: string) => {
  const folder = folderOfLongPaths()
  if (!path.startsWith(join(folder, '/'))) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  assertPrivate(folder)
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
 * Listens on the local socket until the app closes. The holder of the lock of the database calls this, so a socket that
 * exists is that of a process that has ended.
 * @throws an Error with the reason if the socket cannot be created, such as on a file system without sockets
 */
export const listenLocally = async (app: FastifyInstance) => {
  const path = localSocketPath(app.config.DATA_DIR)
  prepareFolder(path)
  rmSync(path, { force: true })
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    markLocal(socket)
    // The HTTP server handles it like a connection of its own, with the same limits and hooks.
    app.server.emit('connection', socket)
  })
  await app.ready()
  await listenPrivately(server, path)
  return () => server.close()
}
