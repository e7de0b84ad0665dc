// Generates clients from the documents of a running service, compiles them and runs a scenario with each:
// `npm run clients`, or `npm run clients -- go typescript-fetch` for some. The last line is `N passed, N failed`.
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { documents } from './documents.js'
import { generators } from './generators.js'
import { lint } from './lint.js'
import { startService } from './service.js'
import { CACHE, endChildren, isInstalled, run } from './tools.js'

const LIMIT_MS = 15 * 60_000
const scenarios = new URL('scenarios/', import.meta.url).pathname

const isInCi = process.env.CI === 'true'
const print = (line) => process.stdout.write(`${line}\n`)

const download = async (service, { path, headers }, version, file) => {
  const response = await fetch(`${service.address}${path}?openapi=${version}`, { headers: headers(service) })
  if (!response.ok) throw new Error(`GET ${path} returned ${response.status}.`)
  writeFileSync(file, JSON.stringify(await response.json(), null, 2))
}

/** Returns the working folder of a check, with the documents and with a copy of the scenario if there is one. */
const prepare = async (service, document, name, scenario) => {
  const work = join(CACHE, 'work', document.name, name)
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  if (scenario !== undefined) cpSync(scenario, work, { recursive: true })
  await download(service, document, '3.1', join(work, 'openapi.json'))
  await download(service, document, '3.0', join(work, 'openapi-3.0.json'))
  return work
}

const environmentOf = ({ address, tokens }) => ({
  ROWHOUSE_URL: address,
  ROWHOUSE_TOKEN: tokens.main,
  ROWHOUSE_READER_TOKEN: tokens.reader
})

/** Generates a client, compiles it and runs its scenario against a service of its own. */
const checkGenerator = async (document, name, { make }) => {
  const service = await startService()
  try {
    const work = await prepare(service, document, name, join(scenarios, document.name, name))
    const runHere = (command, args, options) => run(command, args, { cwd: work, log: join(work, 'log'), ...options })
    const [command, args] = await make({ work, run: runHere })
    await runHere(command, args, { env: environmentOf(service) })
  } finally {
    await service.stop()
  }
}

const checkRules = async (document) => {
  const service = await startService()
  try {
    await lint(await prepare(service, document, 'lint'))
  } finally {
    await service.stop()
  }
}

const generatorsOf = (document) =>
  Object.entries(generators).filter(([name]) => existsSync(join(scenarios, document.name, name)))

const checks = documents.flatMap((document) => [
  { name: 'lint', document, needs: ['npm'], check: () => checkRules(document) },
  ...generatorsOf(document).map(([name, generator]) => ({
    name,
    document,
    needs: generator.needs,
    check: () => checkGenerator(document, name, generator)
  }))
])

const attempt = async ({ name, document, needs, check }) => {
  const title = `${document.name} document, ${name}`
  const missing = needs.filter((command) => !isInstalled(command))
  if (missing.length > 0) {
    print(`${isInCi ? 'not ok' : 'skipped'}: ${title}: ${missing.join(' and ')} not installed`)
    return isInCi ? 'failed' : 'skipped'
  }
  const start = Date.now()
  try {
    await check()
    print(`ok: ${title}, ${((Date.now() - start) / 1000).toFixed(1)} s`)
    return 'passed'
  } catch (error) {
    print(`not ok: ${title}\n${error.message}`)
    return 'failed'
  }
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !checks.some((check) => check.name === name))
if (unknown.length > 0) {
  print(`Unknown: ${unknown.join(', ')}. The names are: lint, ${Object.keys(generators).join(', ')}.`)
  process.exit(2)
}

setTimeout(() => {
  print(`not ok: the checks took longer than ${LIMIT_MS / 60_000} minutes`)
  endChildren()
  process.exit(1)
}, LIMIT_MS).unref()

const results = []
for (const check of checks.filter(({ name }) => names.length === 0 || names.includes(name)))
  results.push(await attempt(check))
const count = (result) => results.filter((item) => item === result).length
if (count('skipped') > 0) print(`${count('skipped')} skipped, because a command that they need is missing`)
print(`${count('passed')} passed, ${count('failed')} failed`)
process.exitCode = count('failed') === 0 ? 0 : 1
