import { build } from 'esbuild'

/** The entry modules of the processes and threads. */
const ENTRIES = {
  rowhouse: 'cli/bin',
  main: 'cli/main',
  'verifier-process': 'services/accounts/verifier-process',
  'writer/writer': 'services/engine/writer/writer',
  'reader/reader': 'services/engine/reader/reader',
  'staging/staging': 'services/engine/staging/staging',
  'backup/backup-process': 'services/engine/backup/backup-process',
  'reader/view-process': 'services/engine/reader/view-process'
}

/**
 * Packages with native code, with files that they read at runtime, or that only some settings need. They stay in
 * node_modules.
 */
const NOT_BUNDLED = ['argon2', 'better-sqlite3', '@fastify/swagger-ui', 'piscina', 'prom-client']

/** Bundled CommonJS packages use these variables, which ES modules do not have. */
const COMMON_JS = `
import { createRequire as commonJsRequire } from 'node:module'
const require = commonJsRequire(import.meta.url)
const __filename = import.meta.filename
const __dirname = import.meta.dirname`

const [outdir = 'dist'] = process.argv.slice(2)

/** One file per entry starts faster: docs/decisions/0010-start.md. */
await build({
  entryPoints: Object.entries(ENTRIES).map(([out, entry]) => ({ in: `build/${entry}.js`, out })),
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.14',
  // `rowhouse` loads `main` only after its check.
  external: [...NOT_BUNDLED, './main.js'],
  banner: { js: COMMON_JS },
  sourcemap: true,
  logLevel: 'warning'
})
