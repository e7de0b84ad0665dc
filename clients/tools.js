import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const here = new URL('.', import.meta.url).pathname
export const versions = JSON.parse(readFileSync(join(here, 'versions.json'), 'utf8'))

/** Downloads, builds and generated clients. Outside the repository, so that a fresh clone finds them. */
export const CACHE = process.env.ROWHOUSE_CLIENTS_CACHE ?? join(homedir(), '.cache', 'rowhouse-clients')

/** Packages of the npm registry, at the versions of clients/package-lock.json. */
const MODULES = join(here, 'node_modules')

export const isInstalled = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0

const children = new Set()

/** Registers a process, so that it ends with the check. */
export const endWithCheck = (child) => {
  children.add(child)
  child.on('close', () => children.delete(child))
  return child
}

export const endChildren = () => {
  for (const child of children) child.kill()
}

/** The end of a failed command's output, in characters. */
const SHOWN = 4000

/** Runs a command. Its output goes to a log, and to the error if it fails. */
export const run = (command, args, { cwd = here, env = {}, log } = {}) =>
  new Promise((resolve, reject) => {
    const options = { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] }
    const child = endWithCheck(spawn(command, args, options))
    let output = ''
    const collect = (chunk) => {
      output += chunk
      if (log) appendFileSync(log, chunk)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) return resolve(output)
      reject(new Error(`${[command, ...args].join(' ')}\n${output.slice(-SHOWN)}`))
    })
  })

const made = new Map()

/** Returns the same promise for each call with this name. */
const once = (name, make) => {
  if (!made.has(name)) made.set(name, make())
  return made.get(name)
}

const isCurrent = (installed, lock) => existsSync(installed) && statSync(installed).mtimeMs > statSync(lock).mtimeMs

export const installModules = () =>
  once('modules', async () => {
    if (!isCurrent(join(MODULES, '.package-lock.json'), join(here, 'package-lock.json')))
      await run('npm', ['ci', '--no-audit', '--no-fund'])
    return MODULES
  })

const isRecent = () => {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 18)
}

/** Returns a Node for generators that need 22.18 or later: this one, or one from the npm registry. */
export const recentNode = () =>
  once('node', async () => {
    if (isRecent()) return process.execPath
    const name = `node-${process.platform}-${process.arch}`
    const prefix = join(CACHE, `node-${versions.node}`)
    const node = join(prefix, 'node_modules', name, 'bin', 'node')
    if (!existsSync(node))
      await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', prefix, `${name}@${versions.node}`])
    return node
  })

/** Returns the folder of the programs of a virtual environment with the pinned generators. */
export const pythonTools = () =>
  once('python', async () => {
    const wanted = Object.entries(versions.python).map(([name, version]) => `${name}==${version}`)
    const folder = join(CACHE, `python-${wanted.join('-')}`)
    const bin = join(folder, 'bin')
    if (!existsSync(join(bin, 'openapi-python-client'))) {
      await run('python3', ['-m', 'venv', folder])
      await run(join(bin, 'pip'), ['install', '--quiet', ...wanted])
    }
    return bin
  })

/** Returns the path of openapi-generator's program. */
export const openapiGenerator = () =>
  once('jar', async () => {
    const version = versions.java['openapi-generator-cli']
    const jar = join(CACHE, `openapi-generator-cli-${version}.jar`)
    if (!existsSync(jar)) {
      const artifact = `org.openapitools:openapi-generator-cli:${version}`
      await run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${CACHE}`], {
        cwd: CACHE
      })
    }
    return jar
  })
