import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { packagesOf } from './licenses.ts'
import { NATIVE_PACKAGES } from './native-packages.ts'

/** The folder of the main module of a package. */
const folderOf = (name: string) => dirname(fileURLToPath(import.meta.resolve(name)))

/** The entry modules of the processes and threads. */
const ENTRIES = {
  main: 'build/cli/main.js',
  'verifier-process': 'build/services/accounts/verifier-process.js',
  'writer/writer': 'build/services/engine/writer/writer.js',
  'reader/reader': 'build/services/engine/reader/reader.js',
  'staging/staging': 'build/services/engine/staging/staging.js',
  'backup/backup-process': 'build/services/engine/backup/backup-process.js',
  'reader/view-process': 'build/services/engine/reader/view-process.js',
  // Piscina starts its threads with the file of this name, beside the file that contains Piscina.
  worker: join(folderOf('piscina'), 'worker.js')
}

/** Piscina loads this package for threads of low priority, which Rowhouse does not use. */
const NOT_USED = ['@napi-rs/nice']

/** Bundled CommonJS packages use these variables, which ES modules do not have. */
const COMMON_JS = `
import { createRequire as commonJsRequire } from 'node:module'
const require = commonJsRequire(import.meta.url)
const __filename = import.meta.filename
const __dirname = import.meta.dirname`

const [outdir = 'dist'] = process.argv.slice(2)

/** Lets @fastify/swagger-ui find the files of the page /docs: dist/swagger-ui has them at the paths of the package. */
const swaggerUiFiles: Plugin = {
  name: 'swagger-ui-files',
  setup: ({ onLoad }) => {
    const replace = (path: string, folder: string) => ({
      contents: readFileSync(path, 'utf8').replaceAll('__dirname', `__dirname + '/swagger-ui/${folder}'`)
    })
    onLoad({ filter: /@fastify\/swagger-ui\/index\.js$/ }, ({ path }) => replace(path, ''))
    onLoad({ filter: /@fastify\/swagger-ui\/lib\/routes\.js$/ }, ({ path }) => replace(path, 'lib'))
  }
}

/** One file per entry starts faster: docs/decisions/0010-start.md. */
const { metafile } = await build({
  entryPoints: ENTRIES,
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.14',
  external: [...NATIVE_PACKAGES, ...NOT_USED],
  plugins: [swaggerUiFiles],
  banner: { js: COMMON_JS },
  sourcemap: true,
  metafile: true,
  logLevel: 'warning'
})
// It needs no bundle: it loads main.js after its check of Node.
cpSync('build/cli/bin.js', join(outdir, 'rowhouse.js'))
cpSync(join(folderOf('@fastify/swagger-ui'), 'static'), join(outdir, 'swagger-ui/static'), { recursive: true })
const modules = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs))
writeFileSync(join(outdir, 'licenses.json'), JSON.stringify(packagesOf(modules), null, 2))
