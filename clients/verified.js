import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * `verified.json` is written by a run of all checks. It has digests of what decides their results, and the generators that
 * passed. While it is current, CI runs `QUICK` only.
 */

const here = new URL('.', import.meta.url).pathname
const FILE = join(here, 'verified.json')

/** One generator for each of TypeScript, Python and Go. They take the least time. */
export const QUICK = ['openapi-typescript', 'python', 'go']

/** They start the checks, and do not decide their results. */
const RUNNER = ['run.js', 'service.js', 'tools.js', 'verified.js']

/** `versions` has the versions of these files. */
const NOT_DIGESTED = [...RUNNER, 'README.md', 'node_modules', 'package.json', 'verified.json', 'versions.json']

const digest = (...texts) => {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text.length}\n`).update(text)
  return hash.digest('hex')
}

const readJson = (name) => JSON.parse(readFileSync(join(here, name), 'utf8'))

const filesIn = (path) =>
  statSync(join(here, path)).isDirectory()
    ? readdirSync(join(here, path)).flatMap((name) => filesIn(join(path, name)))
    : [path]

const digestFiles = () => {
  const names = readdirSync(here).filter((name) => !NOT_DIGESTED.includes(name))
  const paths = names.flatMap(filesIn).sort()
  return digest(...paths.flatMap((path) => [path, readFileSync(join(here, path), 'utf8')]))
}

/** Returns the version of each generator and tool. */
const readVersions = () => {
  const { node, ...languages } = readJson('versions.json')
  return Object.assign({ node }, ...Object.values(languages), readJson('package.json').dependencies)
}

/** Returns the digests of all that decides the results of the checks. `readTexts` returns the texts of a document. */
export const digestInputs = async (documents, readTexts) => {
  const digests = {}
  for (const document of documents) digests[document.name] = digest(...(await readTexts(document)))
  return {
    documents: digests,
    files: { 'clients/': digestFiles() },
    versions: readVersions()
  }
}

/** Writes the digests and the names of those targets that passed. */
export const writeVerified = (inputs, passed) => {
  const targets = Object.fromEntries(passed.map((name) => [name, 'passed']))
  writeFileSync(FILE, `${JSON.stringify({ ...inputs, targets }, null, 2)}\n`)
}

const namesOf = (...objects) => [...new Set(objects.flatMap((object) => Object.keys(object ?? {})))]

/** Returns why the content of verified.json is not current, a line each. */
export const differences = (verified, inputs, targets) => {
  const changed = (group) =>
    namesOf(inputs[group], verified[group]).filter((name) => inputs[group][name] !== verified[group]?.[name])
  return [
    ...changed('documents').map((name) => `The document ${name} has changed.`),
    ...changed('files').map((name) => `The files in ${name} have changed.`),
    ...changed('versions').map((name) => `The version of ${name} has changed.`),
    ...targets.filter((name) => verified.targets?.[name] !== 'passed').map((name) => `${name} has not passed.`)
  ]
}

/** Returns why verified.json is not current, a line each; an empty list if it is. */
export const findDifferences = (inputs, targets) =>
  existsSync(FILE) ? differences(readJson('verified.json'), inputs, targets) : ['clients/verified.json is missing.']
