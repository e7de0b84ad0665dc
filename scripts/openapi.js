// `npm run openapi` writes openapi.json of this repository; with --check it compares it. With --url it fetches the
// document of a token from a service. Plain JavaScript, because that needs no build.
import { spawnSync } from 'node:child_process'
import { fstatSync, ftruncateSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const USAGE = `Usage:
  npm run openapi                    write openapi.json of this repository
  npm run openapi -- --check         exit 1 if openapi.json is stale
  npm run openapi -- --url http://… --token-env NAME > shop.json

  --url URL        the address of the service
  --token-env NAME read the token from this environment variable
  --token-stdin    read the token from standard input
  --openapi 3.0    OpenAPI 3.0.3 instead of 3.1.0
  --output FILE    write to a file instead of standard output
  --check FILE     write nothing, and exit 1 if the file differs from the document
`

const OPTIONS = {
  url: { type: 'string' },
  'token-env': { type: 'string' },
  'token-stdin': { type: 'boolean' },
  openapi: { type: 'string' },
  output: { type: 'string' },
  check: { type: 'string' }
}

const TOKEN = /^rh_[0-9a-f]{64}$/
const TIMEOUT_MS = 30_000

/** Its message is all that a user needs to see. */
class UserError extends Error {}

const fail = (message) => {
  throw new UserError(message)
}

/** Other users of a machine can read the arguments of a process. */
const refuseTokens = (args) => {
  if (args.some((arg) => /^--token(?:=|$)|rh_[0-9a-f]{8}/.test(arg)))
    fail(
      'The token must not be an argument, because other users of this machine can read it. Put it in an environment variable and name that with --token-env, or write it to standard input with --token-stdin.'
    )
}

/** Node reports only the first mistake of arguments, in a sentence about positional arguments that few users need. */
const parse = (args) => {
  const { tokens } = parseArgs({ args, options: OPTIONS, strict: false, tokens: true })
  for (const { kind, name, rawName, value } of tokens) {
    if (kind === 'positional') fail(`'${value}' is not an option. Run npm run openapi -- --help for a list.`)
    const option = OPTIONS[name] ?? fail(`There is no option ${rawName}. Run npm run openapi -- --help for a list.`)
    if (option.type === 'string' && !value) fail(`${rawName} needs a value. Run npm run openapi -- --help for a list.`)
    if (option.type === 'boolean' && value !== undefined) fail(`${rawName} takes no value.`)
  }
  return parseArgs({ args, options: OPTIONS }).values
}

const checkOptions = ({ url, openapi, output, check, ...options }) => {
  if (url === undefined) fail('--url is missing: the address of the service, such as http://127.0.0.1:3000.')
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    fail(`--url must be an address such as http://127.0.0.1:3000, not '${url}'.`)
  if ((options['token-env'] === undefined) === (options['token-stdin'] === undefined))
    fail('Give either --token-env NAME or --token-stdin.')
  if (!['3.0', '3.1', undefined].includes(openapi)) fail(`--openapi must be 3.0 or 3.1, not '${openapi}'.`)
  if (output !== undefined && check !== undefined) fail('Give either --output or --check, not both.')
}

const readToken = async ({ 'token-env': name }) => {
  const value = name === undefined ? await text(process.stdin) : process.env[name]
  const source = name === undefined ? 'Standard input' : `The environment variable ${name}`
  if (value === undefined) fail(`${source} is not set. Set it to a token of the service.`)
  const token = value.trim()
  if (!TOKEN.test(token)) fail(`${source} does not contain a token: rh_ and 64 hexadecimal digits.`)
  return token
}

const messageOf = async (response) => {
  const body = await response.json().catch(() => null)
  return body?.error?.message ?? 'Check --url.'
}

const HINTS = {
  401: 'Check that the token is of this service, active and not expired.',
  404: 'Check --url, and that the service is new enough to have GET /data/_openapi.json.'
}

const request = async (address, token) => {
  try {
    return await fetch(address, {
      headers: { authorization: `Bearer ${token}` },
      // The token is for this address only.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS)
    })
  } catch (error) {
    return fail(
      `${address.origin} cannot be reached: ${error.cause?.code ?? error.message}. Check --url, and that the service runs.`
    )
  }
}

/** Returns the document as indented JSON text. */
const fetchDocument = async ({ url, openapi = '3.1' }, token) => {
  const address = new URL(`${url.replace(/\/+$/, '')}/data/_openapi.json?openapi=${openapi}`)
  const response = await request(address, token)
  if (response.status >= 300 && response.status < 400)
    fail(`${address.origin} redirects to ${response.headers.get('location')}. Give the final address with --url.`)
  if (!response.ok)
    fail(`${address.origin} returned ${response.status}: ${await messageOf(response)} ${HINTS[response.status] ?? ''}`)
  const document = await response.json().catch(() => null)
  if (typeof document?.openapi !== 'string') fail(`${address.origin} did not return an OpenAPI document. Check --url.`)
  return toText(document)
}

const toText = (document) => `${JSON.stringify(document, null, 2)}\n`

/** A formatter may have changed the white space of the file. */
const readFormatted = (file) => {
  try {
    return toText(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    return fail(`${file} cannot be compared: ${error.message}. Write it with --output ${file}.`)
  }
}

const check = (file, document, url) => {
  if (readFormatted(file) === document) return
  fail(
    `${file} differs from the document of ${url}. Write it again with --output ${file} instead of --check ${file}, and generate the client again.`
  )
}

const write = (file, document) => {
  try {
    writeFileSync(file, document)
  } catch (error) {
    fail(`${file} cannot be written: ${error.message}.`)
  }
}

/** npm writes these lines to standard output before it starts a script, except with --silent. */
const BANNER = /^\n> \S+ openapi\n> [^\n]*\n\n$/

const isBannerInFile = () => {
  try {
    return fstatSync(1).isFile() && BANNER.test(readFileSync('/dev/fd/1', 'utf8'))
  } catch {
    return false
  }
}

const print = (document) => {
  const { npm_lifecycle_event, npm_config_loglevel } = process.env
  const hasBanner = npm_lifecycle_event === 'openapi' && npm_config_loglevel !== 'silent' && !process.stdout.isTTY
  if (!hasBanner) process.stdout.write(document)
  else if (isBannerInFile()) {
    ftruncateSync(1, 0)
    writeSync(1, document, 0)
  } else fail('npm writes lines of its own to the output. Use npm run --silent openapi, or --output FILE.')
}

const fetchForToken = async (args) => {
  const options = parse(args)
  checkOptions(options)
  const document = await fetchDocument(options, await readToken(options))
  if (options.check !== undefined) check(options.check, document, options.url)
  else if (options.output !== undefined) write(options.output, document)
  else print(document)
}

const pathOf = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const run = (script, args) => {
  const { status } = spawnSync(process.execPath, [pathOf(script), ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

const writeOwn = (args) => {
  run('scripts/build.js', [])
  run('build/scripts/write-openapi.js', args)
}

const main = async (args) => {
  refuseTokens(args)
  if (args.includes('--help')) process.stdout.write(USAGE)
  else if (args.length === 0 || (args.length === 1 && args[0] === '--check')) writeOwn(args)
  else await fetchForToken(args)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UserError)) throw error
  process.stderr.write(`${error.message.trim()}\n`)
  process.exitCode = 1
}
