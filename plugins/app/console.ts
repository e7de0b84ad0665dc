import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import fp from 'fastify-plugin'

/** The console may load scripts and styles from Rowhouse and send requests to it, nothing else. Tested in Chromium. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

/** The bundled service is in `dist/`, beside `console/`; its modules are in `build/plugins/app/`. */
const FOLDERS = ['./console/', '../../../dist/console/'].map((path) => fileURLToPath(new URL(path, import.meta.url)))

/** Returns the folder of the built console. @throws if it is not built */
export const findConsole = (folders: readonly string[] = FOLDERS) => {
  const folder = folders.find((path) => existsSync(join(path, 'index.html')))
  if (folder === undefined) throw new Error('The console is not built. Run `npm run build`.')
  return folder
}

/** Returns the relative path from a page to `/console/`: a proxy may serve Rowhouse below a prefix. */
const baseOf = (url: string) => '../'.repeat(url.replace(/[?#].*/s, '').split('/').length - 3) || './'

/**
 * Serves the console. Its assets have a hash in their names and never change. All other paths are pages of the console,
 * with one document: the script in it shows the page of the path.
 */
export default fp(
  async (fastify) => {
    const root = findConsole()
    const document = readFileSync(join(root, 'index.html'), 'utf8')
    await fastify.register(async (assets) => {
      // Shared caches keep assets. They must not send a compressed one to a client that cannot read it.
      assets.addHook('onRequest', async (_request, reply) => {
        reply.header('vary', 'Accept-Encoding')
      })
      await assets.register(fastifyStatic, {
        root: join(root, 'assets'),
        prefix: '/console/assets/',
        decorateReply: false,
        index: false,
        preCompressed: true,
        immutable: true,
        maxAge: '1y'
      })
    })

    fastify.get('/console', { schema: { hide: true } }, async (_request, reply) => reply.redirect('console/'))

    fastify.get('/console/*', { schema: { hide: true } }, async ({ url }, reply) =>
      reply
        .header('content-security-policy', PAGE_POLICY)
        .type('text/html; charset=utf-8')
        .send(document.replace('<head>', `<head><base href="${baseOf(url)}">`))
    )
  },
  { name: 'console' }
)
