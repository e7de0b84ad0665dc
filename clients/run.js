// Generates clients from the documents of a running service, compiles them and runs a scenario with each:
// `npm run clients`, or `npm run clients -- go typescript-fetch` for some. The last line is `N passed, N failed`.
// Without arguments, it writes verified.json. --quick: three generators. --check: only whether verified.json is current.
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { documents } from './documents.js'
import { generators } from './generators.js'
import { lint } from './lint.js'
import { request, startService } from './service.js'
import { CACHE, endChildren, isInstalled, run } from './tools.js'
import { digestInputs, findDifferences, QUICK, writeVerified } from './verified.js'

/** A machine that does other work needs more. */
const LIMIT_MINUTES = Number(process.env.ROWHOUSE_CLIENTS_MINUTES ?? 25)
/** Checks at a time: about half of a check uses one core only. */
const JOBS = 2
const projects = new URL('projects/', import.meta.url).pathname
const scenarios = new URL('scenarios/', import.meta.url).pathname

const isInCi = process.env.CI === 'true'
const print = (line) => process.stdout.write(`${line}\n`)

/** Returns the text of a document, in version 3.0 or 3.1. */
const download = async (service, { path, headers }, version) => {
  const url = new URL(path, service.address)
  url.searchParams.set('openapi', version)
  const response = await request(url, { headers: headers(service) })
  if (!response.ok) throw new Error(`GET ${path} returned ${response.status}.`)
  return JSON.stringify(await response.json(), null, 2)
}

/** Returns the texts of a document with all tables, in both versions. */
const downloadWhole = async (document) => {
  const service = await startService(document.contentFor('all'))
  try {
    return [await download(service, document, '3.1'), await download(service, document, '3.0')]
  } finally {
    await service.stop()
  }
}

/** Returns the working folder of a check, with the documents and with copies of the folders that there are. */
const prepare = async (service, document, name, folders) => {
  const work = join(CACHE, 'work', document.name, name)
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  for (const folder of folders.filter(existsSync)) cpSync(folder, work, { recursive: true })
  writeFileSync(join(work, 'openapi.json'), await download(service, document, '3.1'))
  writeFileSync(join(work, 'openapi-3.0.json'), await download(service, document, '3.0'))
  return work
}

const environmentOf = ({ address, tokens }) => ({
  ROWHOUSE_URL: address,
  ROWHOUSE_TOKEN: tokens.main,
  ...(tokens.reader && { ROWHOUSE_READER_TOKEN: tokens.reader })
})

/** Generates a client, compiles it and runs its scenario against a service of its own. */
const checkGenerator = async (document, name, { make }) => {
  const service = await startService(document.contentFor(name))
  try {
    const folders = [join(projects, name), join(scenarios, document.name, name)]
    const work = await prepare(service, document, name, folders)
    const runHere = (command, args, options) => run(command, args, { cwd: work, log: join(work, 'log'), ...options })
    const [command, args] = await make({ work, run: runHere })
    await runHere(command, args, { env: environmentOf(service) })
  } finally {
    await service.stop()
  }
}

const checkRules = async (document) => {
  const service = await startService(document.contentFor('lint'))
  try {
    await lint(await prepare(service, document, 'lint', []))
  } finally {
    await service.stop()
  }
}

const checks = documents.flatMap((document) => [
  { name: 'lint', document, needs: ['npm'], check: () => checkRules(document) },
  ...Object.entries(generators).map(([name, generator]) => ({
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

process.on('exit', endChildren)

const args = process.argv.slice(2)
const isWhole = args.length === 0
const names = args.flatMap((arg) => (arg === '--quick' ? QUICK : arg)).filter((name) => name !== '--check')
const known = new Set([...documents, ...checks].map(({ name }) => name))
const unknown = names.filter((name) => !known.has(name))
if (unknown.length > 0) {
  print(`Unknown: ${unknown.join(', ')}. The names are: ${[...known].join(', ')}. Others: --quick, --check.`)
  process.exit(2)
}

const targets = ['lint', ...Object.keys(generators)]

if (args.includes('--check')) {
  const reasons = findDifferences(await digestInputs(documents, downloadWhole), targets)
  for (const reason of reasons) print(reason)
  if (reasons.length === 0) print('clients/verified.json is current.')
  else print('Run npm run clients, and commit clients/verified.json.')
  process.exit(reasons.length === 0 ? 0 : 1)
}

/** Whether the arguments include the name, or no name of this group. */
const isNamed = (group, name) => names.includes(name) || !group.some((member) => names.includes(member.name))

const isChosen = ({ name, document }) => isNamed(documents, document.name) && isNamed(checks, name)

setTimeout(() => {
  print(`not ok: the checks took longer than ${LIMIT_MINUTES} minutes`)
  process.exit(1)
}, LIMIT_MINUTES * 60_000).unref()

// Before the checks: a change during them makes the file old.
const inputs = isWhole ? await digestInputs(documents, downloadWhole) : null

const results = []
const waiting = checks.filter(isChosen)
const takeChecks = async () => {
  for (let check = waiting.shift(); check; check = waiting.shift())
    results.push({ name: check.name, result: await attempt(check) })
}
await Promise.all(Array.from({ length: JOBS }, takeChecks))
const count = (result) => results.filter((item) => item.result === result).length
const hasPassed = (target) => results.every(({ name, result }) => name !== target || result === 'passed')
if (inputs) writeVerified(inputs, targets.filter(hasPassed))
if (count('skipped') > 0) print(`${count('skipped')} skipped, because a command that they need is missing`)
print(`${count('passed')} passed, ${count('failed')} failed`)
process.exitCode = count('failed') === 0 ? 0 : 1
