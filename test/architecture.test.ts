import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'

/** From the bottom up; a file may import from its own layer and those below. */
const LAYERS = ['schemas', 'services', 'plugins', 'routes', 'app.ts', 'server.ts', 'cli', 'scripts']

/** The settings. All layers but the schemas may import them. */
const CONFIG = 'config.ts'

const NATIVE_ENGINE = 'better-sqlite3'

const layerOf = (path: string) => LAYERS.indexOf(path.split('/')[0] as string)

const filesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(directory, path))

const isRootFile = (path: string) => path.endsWith('.ts')

// Tests run in the root of the project, on compiled code; the rules are about the sources.
const files = [CONFIG, ...LAYERS.flatMap((layer) => (isRootFile(layer) ? [layer] : filesIn(layer)))]

const SPECIFIER = /(?:^|[\s;])(?:import|export)\s(?:[^'"`;]*?\sfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g

/** A comment may contain an import statement. */
const withoutComments = (source: string) => source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

const specifiersOf = (path: string) =>
  [...withoutComments(readFileSync(path, 'utf8')).matchAll(SPECIFIER)].map(([, from, dynamic]) =>
    String(from ?? dynamic)
  )

const specifiers = new Map(files.map((path) => [path, specifiersOf(path)]))

const isRelative = (specifier: string) => specifier.startsWith('.')

const importsOf = (path: string) =>
  (specifiers.get(path) ?? []).filter(isRelative).map((specifier) => normalize(join(dirname(path), specifier)))

/** Returns the imports of a file that remain without its types. */
const runtimeImportsOf = (path: string) => {
  const code = withoutComments(readFileSync(path, 'utf8')).replace(/^import type .*$/gm, '')
  return [...code.matchAll(SPECIFIER)]
    .map(([, from]) => String(from))
    .filter(isRelative)
    .map((specifier) => normalize(join(dirname(path), specifier)))
}

/** Folders and files inside a folder, from the bottom up. The parts in one row must not import each other. */
const ROWS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  services: [
    ['model'],
    ['sql'],
    ['engine'],
    ['audit'],
    ['settings', 'tables'],
    ['records', 'accounts', 'backups'],
    ['roles'],
    ['tokens'],
    ['documents', 'metrics']
  ],
  'services/tables': [
    ['audited-table.ts', 'failures.ts', 'foreign-keys.ts'],
    ['assert-table.ts'],
    ['names'],
    ['registry'],
    ['search', 'token-access.ts'],
    ['adopt', 'changes'],
    ['table-json.ts', 'tables.ts']
  ],
  'services/records': [['failures.ts'], ['access'], ['read'], ['change', 'export'], ['batch', 'import'], ['records.ts']]
}

/** Returns the name of the folder or file that has the path, directly inside a folder; null for a path elsewhere. */
const partOf = (folder: string, path: string) =>
  path.startsWith(`${folder}/`) ? String(path.slice(folder.length + 1).split('/')[0]) : null

const mayImportInside = (folder: string, importer: string, imported: string) => {
  const [from, to] = [partOf(folder, importer), partOf(folder, imported)]
  if (from === null || to === null || from === to) return true
  const [fromRow = -1, toRow = -1] = [from, to].map((part) => ROWS[folder]?.findIndex((row) => row.includes(part)))
  return toRow < fromRow
}

const mayImport = (importer: string, imported: string) => {
  if (imported === CONFIG) return layerOf(importer) !== LAYERS.indexOf('schemas')
  if (importer === CONFIG) return layerOf(imported) === LAYERS.indexOf('schemas')
  return layerOf(imported) >= 0 && layerOf(imported) <= layerOf(importer)
}

t.test('the imports of every source are found', async (t) => {
  t.ok(files.length > 50, `${files.length} files`)
  t.ok(importsOf('app.ts').includes('plugins/app/database.ts'))
  t.ok(importsOf('services/engine/reader/reader.ts').includes('services/engine/reader/scan.ts'))
  t.strictSame(specifiers.get('services/engine/writer/lock.ts'), ['node:fs', NATIVE_ENGINE, '../shared/plain-error.ts'])
})

t.test('imports run one way: schemas, services, plugins, routes, app, server, cli', async (t) => {
  const breaches = files.flatMap((path) =>
    importsOf(path)
      .filter((imported) => !mayImport(path, imported))
      .map((imported) => `${path} imports ${imported}`)
  )
  t.strictSame(breaches, [])
})

for (const [folder, rows] of Object.entries(ROWS)) {
  t.test(`inside ${folder}, imports run one way`, async (t) => {
    const parts = new Set(files.map((path) => partOf(folder, path)).filter((part) => part !== null))
    t.strictSame([...parts].sort(), rows.flat().sort(), 'each folder and file is in a row')
    const breaches = files.flatMap((path) =>
      importsOf(path)
        .filter((imported) => !mayImportInside(folder, path, imported))
        .map((imported) => `${path} imports ${imported}`)
    )
    t.strictSame(breaches, [])
  })
}

t.test('the transport does not import the wiring', async (t) => {
  const transport = files.filter((path) => path.startsWith('plugins/http/'))
  t.ok(transport.length > 0)
  t.strictSame(
    transport.flatMap(importsOf).filter((path) => path.startsWith('plugins/app/')),
    []
  )
})

t.test('in the engine, files of all threads do not import files of one thread', async (t) => {
  const shared = files.filter((path) => path.startsWith('services/engine/shared/'))
  t.ok(shared.length > 0)
  const imported = shared.flatMap(importsOf)
  t.strictSame(
    imported.filter((path) => /^services\/engine\/(?:loop|writer|reader)\//.test(path)),
    []
  )
})

t.test('every import names an existing file, with its ending', async (t) => {
  const known = new Set(files)
  const lost = files.flatMap((path) => importsOf(path).filter((imported) => !known.has(imported)))
  t.strictSame(lost, [])
})

t.test('only services/engine imports the native engine', async (t) => {
  const importers = files.filter((path) => specifiers.get(path)?.includes(NATIVE_ENGINE))
  t.ok(importers.length > 0)
  t.strictSame(
    importers.filter((path) => !path.startsWith('services/engine/')),
    []
  )
})

t.test('services do not import Fastify, and schemas import only TypeBox', async (t) => {
  const wrong = files.flatMap((path) => {
    const external = (specifiers.get(path) ?? []).filter((specifier) => !isRelative(specifier))
    if (path.startsWith('services/')) return external.filter((name) => /fastify/.test(name))
    return path.startsWith('schemas/') ? external.filter((name) => name !== '@sinclair/typebox') : []
  })
  t.strictSame(wrong, [])
})

t.test('no imports form a cycle', async (t) => {
  const finished = new Set<string>()
  const cycles: string[] = []
  const walk = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) return cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
    if (finished.has(path)) return
    for (const imported of importsOf(path)) walk(imported, [...trail, path])
    return finished.add(path)
  }
  for (const path of files) walk(path, [])
  t.strictSame(cycles, [])
})

t.test('a thread of the engine loads only the engine, sql and model, so that it starts fast', async (t) => {
  const loaded = new Set<string>()
  const load = (path: string) => {
    if (loaded.has(path)) return
    loaded.add(path)
    for (const imported of runtimeImportsOf(path)) load(imported)
  }
  for (const thread of ['writer', 'reader']) load(`services/engine/${thread}/${thread}.ts`)
  t.ok(loaded.has('services/engine/shared/connection.ts'))
  t.strictSame(
    [...loaded].filter((path) => !/^services\/(?:engine\/(?!loop\/)|sql\/|model\/)/.test(path)),
    []
  )
})

t.test('no file collects unrelated helpers or re-exports others', async (t) => {
  t.strictSame(
    files.filter((path) => /(?:^|\/)(?:index|utils?|helpers?|common|misc)(?:\.ts|\/)/.test(path)),
    []
  )
  const forwarding = files.filter((path) =>
    /^export\s(?:type\s)?(?:\*|\{[^}]*\})[^'"\n]*\sfrom\s/m.test(withoutComments(readFileSync(path, 'utf8')))
  )
  t.strictSame(forwarding, [])
})

t.test('every cache is in the list of decision 39', (t) => {
  const decision = readFileSync('docs/decisions/0039-access.md', 'utf8')
  const CACHE = /\b(?:new (?:LRUCache|WeakMap)|createSharedCache|createShared)\b[<(]/
  const caching = files.filter(
    (path) => /^(?:services|plugins\/app|routes)\//.test(path) && CACHE.test(readFileSync(path, 'utf8'))
  )
  const isListed = (path: string) => decision.includes(path) || decision.includes(`\`${path.split('/').at(-1)}\``)
  t.ok(caching.length > 10)
  t.strictSame(
    caching.filter((path) => !isListed(path)),
    []
  )
  t.end()
})
