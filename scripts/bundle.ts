import { build } from 'esbuild'

/** What a process or a thread starts with. */
const ENTRIES = {
  server: 'server',
  'verifier-process': 'services/accounts/verifier-process',
  'writer/writer': 'services/engine/writer/writer',
  'reader/reader': 'services/engine/reader/reader'
}

/** Compiled for the machine, or with files that they read themselves: they stay in node_modules. */
const NOT_BUNDLED = ['argon2', 'better-sqlite3', '@fastify/swagger-ui', 'piscina']

/** What CommonJS finds in its scope and modules do not: packages that are bundled ask for it. */
const COMMON_JS = `
import { createRequire as commonJsRequire } from 'node:module'
const require = commonJsRequire(import.meta.url)
const __filename = import.meta.filename
const __dirname = import.meta.dirname`

const [outdir = 'dist'] = process.argv.slice(2)

/** Makes one file of each entry: see docs/decisions/0010-start.md. */
await build({
  entryPoints: Object.entries(ENTRIES).map(([out, entry]) => ({ in: `build/${entry}.js`, out })),
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.12',
  external: NOT_BUNDLED,
  banner: { js: COMMON_JS },
  sourcemap: true,
  logLevel: 'warning'
})
