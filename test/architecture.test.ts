import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'

/** From the bottom up; a file may import from its own layer and those below. */
const LAYERS = ['schemas', 'services', 'plugins', 'routes', 'app.ts', 'server.ts', 'scripts']

/** The settings: for all but the schemas. */
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

/** Comments may speak of imports. */
const withoutComments = (source: string) => source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

const specifiersOf = (path: string) =>
  [...withoutComments(readFileSync(path, 'utf8')).matchAll(SPECIFIER)].map(([, from, dynamic]) =>
    String(from ?? dynamic)
  )

const specifiers = new Map(files.map((path) => [path, specifiersOf(path)]))

const isRelative = (specifier: string) => specifier.startsWith('.')

const importsOf = (path: string) =>
  (specifiers.get(path) ?? []).filter(isRelative).map((specifier) => normalize(join(dirname(path), specifier)))

/** What is left of a file's imports when its types are gone. */
const runtimeImportsOf = (path: string) => {
  const code = withoutComments(readFileSync(path, 'utf8')).replace(/^import type .*$/gm, '')
  return [...code.matchAll(SPECIFIER)]
    .map(([, from]) => String(from))
    .filter(isRelative)
    .map((specifier) => normalize(join(dirname(path), specifier)))
}

/** Inside `services/`, from the bottom up. Folders of one row may not import each other's features. */
const SERVICE_LAYERS = [['model'], ['sql'], ['engine'], ['tables'], ['records', 'tokens', 'accounts'], ['documents']]

const serviceLayerOf = (path: string) => {
  const [root, folder] = path.split('/')
  return root === 'services' ? SERVICE_LAYERS.findIndex((row) => row.includes(String(folder))) : -1
}

const mayImportService = (importer: string, imported: string) => {
  const [from, to] = [serviceLayerOf(importer), serviceLayerOf(imported)]
  if (from < 0 || to < 0) return true
  return from === to ? dirname(importer).split('/')[1] === dirname(imported).split('/')[1] : to < from
}

const mayImport = (importer: string, imported: string) => {
  if (imported === CONFIG) return layerOf(importer) !== LAYERS.indexOf('schemas')
  if (importer === CONFIG) return layerOf(imported) === LAYERS.indexOf('schemas')
  return layerOf(imported) >= 0 && layerOf(imported) <= layerOf(importer)
}

t.test('the imports of every source are seen', async (t) => {
  t.ok(files.length > 50, `${files.length} files`)
  t.ok(importsOf('app.ts').includes('plugins/app/database.ts'))
  t.ok(importsOf('services/engine/reader/reader.ts').includes('services/engine/reader/scan.ts'))
  t.strictSame(specifiers.get('services/engine/writer/lock.ts'), ['node:fs', NATIVE_ENGINE, '../shared/plain-error.ts'])
})

t.test('imports run one way: schemas, services, plugins, routes, app, server', async (t) => {
  const breaches = files.flatMap((path) =>
    importsOf(path)
      .filter((imported) => !mayImport(path, imported))
      .map((imported) => `${path} imports ${imported}`)
  )
  t.strictSame(breaches, [])
})

t.test('inside services, imports run one way: model, sql, engine, then the features', async (t) => {
  const loose = files.filter((path) => path.startsWith('services/') && serviceLayerOf(path) < 0)
  t.strictSame(loose, [], 'every file has a folder')
  const breaches = files.flatMap((path) =>
    importsOf(path)
      .filter((imported) => !mayImportService(path, imported))
      .map((imported) => `${path} imports ${imported}`)
  )
  t.strictSame(breaches, [])
})

t.test('what is imported is named with its ending, and is there', async (t) => {
  const known = new Set(files)
  const lost = files.flatMap((path) => importsOf(path).filter((imported) => !known.has(imported)))
  t.strictSame(lost, [])
})

t.test('only services/engine imports the native engine', async (t) => {
  const knowing = files.filter((path) => specifiers.get(path)?.includes(NATIVE_ENGINE))
  t.ok(knowing.length > 0)
  t.strictSame(
    knowing.filter((path) => !path.startsWith('services/engine/')),
    []
  )
})

t.test('services know nothing of Fastify, schemas only TypeBox', async (t) => {
  const foreign = files.flatMap((path) => {
    const external = (specifiers.get(path) ?? []).filter((specifier) => !isRelative(specifier))
    if (path.startsWith('services/')) return external.filter((name) => /fastify/.test(name))
    return path.startsWith('schemas/') ? external.filter((name) => name !== '@sinclair/typebox') : []
  })
  t.strictSame(foreign, [])
})

t.test('no file imports itself over others', async (t) => {
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

t.test(
  'a thread of the engine loads the engine and nothing else: it starts with the service, and with exports',
  async (t) => {
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
  }
)

t.test('there are no barrels and no drawers', async (t) => {
  t.strictSame(
    files.filter((path) => /(?:^|\/)(?:index|utils?|helpers?|common|misc)(?:\.ts|\/)/.test(path)),
    []
  )
  const forwarding = files.filter((path) =>
    /^export\s(?:type\s)?(?:\*|\{[^}]*\})[^'"\n]*\sfrom\s/m.test(withoutComments(readFileSync(path, 'utf8')))
  )
  t.strictSame(forwarding, [])
})
