import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { packagesOf } from './licenses.ts'
import { NATIVE_PACKAGES } from './native-packages.ts'

/** The folder of the main module of a package. */
const folderOf = (name: string) => dirname(fileURLToPath(import.meta.resolve(name)))

/** The program. What it imports dynamically is in files of its own, which are loaded when they are needed. */
const PROGRAM = { main: 'build/cli/main.js' }

/** The entry modules of the other processes and threads. One file per entry starts faster: docs/decisions/0010-start.md. */
const ENTRIES = {
  'verifier-process': 'build/services/accounts/verifier-process.js',
  'writer/writer': 'build/services/engine/writer/writer.js',
  'reader/reader': 'build/services/engine/reader/reader.js',
  'staging/staging': 'build/services/engine/staging/staging.js',
  'backup/backup-process': 'build/services/engine/backup/backup-process.js',
  'reader/view-process': 'build/services/engine/reader/view-process.js',
  // Piscina starts its threads with the file of this name, beside the file that contains Piscina.
  worker: join(folderOf('piscina'), 'worker.js')
}

/**
 * Code instead of packages whose work Rowhouse does not need: threads of low priority in Piscina, routes of single files in
 * @fastify/static, and warnings in http-errors, which find line numbers of the bundle in 20 ms.
 */
const REPLACED: Readonly<Record<string, string>> = {
  '@napi-rs/nice': '',
  glob: '',
  depd: 'module.exports = () => () => {}'
}

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

const replacedPackages: Plugin = {
  name: 'replaced-packages',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: new RegExp(`^(?:${Object.keys(REPLACED).join('|')})$`) }, ({ path }) => ({
      path,
      namespace: 'replaced'
    }))
    onLoad({ filter: /.*/, namespace: 'replaced' }, ({ path }) => ({ contents: REPLACED[path] as string }))
  }
}

/**
 * Replaces `import` by `require` for the modules of Node. An `import` reads all exports of the module: one of node:http
 * loads the WebSocket of Node, which took a twentieth of a start.
 */
const requiredBuiltins: Plugin = {
  name: 'required-builtins',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin' } : { path, external: true }
    )
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: `module.exports = require('${path}')` }))
  }
}

/** From the mark of a comment to the end of its line. */
const COMMENT = /(?:^|\s)(?:\/\/|[(/]?\*).*$/gm

/**
 * Makes comments ASCII: V8 takes twice the memory for a file with other characters. esbuild escapes those in texts, but not in
 * regular expressions. @throws an Error that names such a line
 */
const makeAscii = (file: string) => {
  const code = readFileSync(file, 'utf8').replace(COMMENT, (comment) => comment.replace(/\P{ASCII}/gu, '?'))
  const other = code.split('\n').find((line) => /\P{ASCII}/u.test(line))
  if (other !== undefined) throw new Error(`Write the characters that are not ASCII as \\u…: ${other.trim()}`)
  writeFileSync(file, code)
}

/** Names of the files of what the program imports. Beside it: code finds files, such as those of threads, from there. */
const CHUNK = 'chunk-[hash]'

/** Of an earlier build: the console is built apart. */
const KEPT: ReadonlySet<string> = new Set(['console', 'compile-cache'])

/** Returns the modules in the bundles. */
const bundle = async (entryPoints: Record<string, string>, splitting: boolean) => {
  const { metafile } = await build({
    entryPoints,
    outdir,
    splitting,
    chunkNames: CHUNK,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.14',
    external: [...NATIVE_PACKAGES],
    plugins: [swaggerUiFiles, replacedPackages, requiredBuiltins],
    banner: { js: COMMON_JS },
    sourcemap: true,
    metafile: true,
    logLevel: 'warning'
  })
  for (const file of Object.keys(metafile.outputs)) if (file.endsWith('.js')) makeAscii(file)
  return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs))
}

mkdirSync(outdir, { recursive: true })
for (const file of readdirSync(outdir)) if (!KEPT.has(file)) rmSync(join(outdir, file), { recursive: true })
const modules = [...(await bundle(PROGRAM, true)), ...(await bundle(ENTRIES, false))]
// It needs no bundle: it loads main.js after its check of Node.
cpSync('build/cli/bin.js', join(outdir, 'rowhouse.js'))
cpSync(join(folderOf('@fastify/swagger-ui'), 'static'), join(outdir, 'swagger-ui/static'), { recursive: true })
writeFileSync(join(outdir, 'licenses.json'), JSON.stringify(packagesOf(modules), null, 2))
