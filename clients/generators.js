import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE, installModules, openapiGenerator, pythonTools, recentNode, versions } from './tools.js'

/**
 * Each generator makes a client in `work`, which has a copy of its scenario and the documents `openapi.json` (3.1) and
 * `openapi-3.0.json`. It compiles the client and the scenario, and returns the command that runs the scenario.
 * `needs`: commands that must be installed.
 */

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    types: ['node'],
    rootDir: '.',
    outDir: 'build'
  },
  include: ['*.ts', 'client']
}

const linkModules = async (work) => {
  symlinkSync(await installModules(), join(work, 'node_modules'))
  writeFileSync(join(work, 'package.json'), JSON.stringify({ type: 'module' }))
  writeFileSync(join(work, 'tsconfig.json'), JSON.stringify(TSCONFIG))
}

const compileTypescript = async (run) => {
  await run('node', ['node_modules/typescript/bin/tsc'])
  return ['node', ['build/scenario.js']]
}

/** Runs the program of an npm package on a recent Node. */
const runModule = async (run, path, ...args) => run(await recentNode(), [join('node_modules', path), ...args])

const openapiTypescript = async ({ work, run }) => {
  await linkModules(work)
  await run('node', ['node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'client.ts'])
  return compileTypescript(run)
}

const heyApi = async ({ work, run }) => {
  await linkModules(work)
  await runModule(run, '@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'client')
  return compileTypescript(run)
}

const orval = async ({ work, run }) => {
  await linkModules(work)
  await runModule(run, 'orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs')
  return compileTypescript(run)
}

/** Runs openapi-generator for a language. */
const generate = async (run, language, output, ...options) =>
  run('java', [
    ...['-jar', await openapiGenerator(), 'generate'],
    ...['-i', 'openapi.json', '-g', language, '-o', output, ...options]
  ])

const typescriptFetch = async ({ work, run }) => {
  await linkModules(work)
  await generate(run, 'typescript-fetch', 'client', '--additional-properties', 'importFileExtension=.js')
  return compileTypescript(run)
}

const python = async ({ work, run }) => {
  const bin = await pythonTools()
  await generate(run, 'python', 'client', '--package-name', 'rowhouse')
  await run('python3', ['-m', 'venv', 'venv'])
  const program = join(work, 'venv', 'bin', 'python')
  await run(program, ['-m', 'pip', 'install', '--quiet', './client'])
  await run(join(bin, 'mypy'), ['--strict', '--python-executable', program, 'scenario.py'])
  return [program, ['scenario.py']]
}

const vetGo = async (run) => {
  await run('go', ['mod', 'tidy'])
  await run('go', ['vet', './...'])
  await run('go', ['build', '-o', 'scenario', '.'])
  return ['./scenario', []]
}

const go = async ({ run }) => {
  await generate(run, 'go', 'rowhouse', '--additional-properties', 'withGoMod=false,packageName=rowhouse')
  await run('rm', ['-rf', 'rowhouse/test'])
  return vetGo(run)
}

const oapiCodegen = async ({ run }) => {
  const [[program, version]] = Object.entries(versions.go)
  await run('mkdir', ['rowhouse'])
  const options = ['-generate', 'types,client', '-package', 'rowhouse', '-o', 'rowhouse/client.go']
  await run('go', ['run', `${program}@${version}`, ...options, 'openapi.json'])
  return vetGo(run)
}

const openapiPythonClient = async ({ run }) => {
  const bin = await pythonTools()
  const options = ['--path', 'openapi.json', '--meta', 'none', '--output-path', 'rowhouse']
  // The generator runs ruff from the same folder.
  const env = { PATH: `${bin}:${process.env.PATH}` }
  await run(join(bin, 'openapi-python-client'), ['generate', ...options], { env })
  await run(join(bin, 'mypy'), ['scenario.py', 'rowhouse'])
  return [join(bin, 'python'), ['scenario.py']]
}

/** @throws if the file compiles: it contains a mistake that the compiler must find */
const expectFailure = async (compiling, file) => {
  const isCompiled = await compiling.then(
    () => true,
    () => false
  )
  if (isCompiled) throw new Error(`${file} compiles.`)
}

const mistakesIn = (work) => (readdirSync(work).includes('mistakes') ? readdirSync(join(work, 'mistakes')) : [])

const java = async ({ work, run }) => {
  await generate(run, 'java', 'client', '--library', 'native')
  const list = join(work, 'classpath')
  const options = ['-q', '-B', '-f', 'client/pom.xml']
  await run('mvn', [...options, 'compile', 'dependency:build-classpath', `-Dmdep.outputFile=${list}`])
  const classpath = ['.', 'client/target/classes', readFileSync(list, 'utf8').trim()].join(':')
  await run('javac', ['-Xlint:all,-processing,-classfile', '-Werror', '-cp', classpath, 'Scenario.java'])
  for (const mistake of mistakesIn(work))
    await expectFailure(run('javac', ['-cp', classpath, join('mistakes', mistake)]), mistake)
  return ['java', ['-cp', classpath, 'Scenario']]
}

/** Both crates share their compiled dependencies. */
const TARGET = join(CACHE, 'rust')

const buildRust = async (run, name) => {
  await run('cargo', ['build', '--quiet'], { env: { CARGO_TARGET_DIR: TARGET } })
  return [join(TARGET, 'debug', name), []]
}

const rust = async ({ run }) => {
  await generate(run, 'rust', 'client', '--additional-properties', 'packageName=rowhouse')
  return buildRust(run, 'rust-scenario')
}

/** Removes the operations that take a file: progenitor stops at a body of several media types, or of one that it does not know. */
const withoutFiles = (path) => {
  const document = JSON.parse(readFileSync(path, 'utf8'))
  const isFile = (type) => type !== 'application/json'
  const takesFile = ({ post }) => post?.requestBody && Object.keys(post.requestBody.content).some(isFile)
  const paths = Object.entries(document.paths).filter(([, item]) => !takesFile(item))
  writeFileSync(path, JSON.stringify({ ...document, paths: Object.fromEntries(paths) }))
}

/** Progenitor is a macro: it generates the client while the scenario is compiled. */
const progenitor = async ({ work, run }) => {
  withoutFiles(join(work, 'openapi-3.0.json'))
  await run('cargo', ['add', '--quiet', `progenitor@=${versions.rust.progenitor}`])
  return buildRust(run, 'progenitor-scenario')
}

const NODE = ['node', 'npm']
const JAVA = ['java', 'mvn']

export const generators = {
  'openapi-typescript': { needs: NODE, make: openapiTypescript },
  'hey-api': { needs: NODE, make: heyApi },
  orval: { needs: NODE, make: orval },
  'typescript-fetch': { needs: [...NODE, ...JAVA], make: typescriptFetch },
  python: { needs: ['python3', ...JAVA], make: python },
  go: { needs: ['go', ...JAVA], make: go },
  'oapi-codegen': { needs: ['go'], make: oapiCodegen },
  'openapi-python-client': { needs: ['python3'], make: openapiPythonClient },
  java: { needs: JAVA, make: java },
  rust: { needs: ['cargo', ...JAVA], make: rust },
  progenitor: { needs: ['cargo'], make: progenitor }
}
