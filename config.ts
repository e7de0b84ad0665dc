import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { isIP } from 'node:net'
import { basename, dirname, join, resolve } from 'node:path'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Cron } from 'croner'
import {
  ADMIN_NAME_PATTERN,
  CLAIM_POINTERS_PATTERN,
  METRICS_TOKEN_PATTERN,
  ROLE_OR_POINTER_PATTERN,
  WITHOUT_SPACES_PATTERN
} from './schemas/patterns.ts'
import { violationPhrase } from './schemas/phrases.ts'
import { type LogLevel, type SettingName, settingRules } from './schemas/settings.ts'
import { countTypos } from './schemas/similar-names.ts'

/** Bytes. A V8 string has at most 2^29 - 24 characters. */
const MAX_BODY_LIMIT = 500 * 2 ** 20

/** All settings. Each is an environment variable of the same name. docs/guides/configure.md has the same table. */
const ConfigSchema = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', minLength: 1 }),
  PORT: Type.Integer({ default: 3000, minimum: 0, maximum: 65535 }),
  DATA_DIR: Type.Optional(Type.String({ minLength: 1 })),
  DATABASE: Type.Optional(Type.String({ minLength: 1 })),
  RQLITE_URLS: Type.Optional(
    Type.String({ minLength: 1, description: 'Addresses of the nodes of a cluster, comma-separated.' })
  ),
  RQLITE_USER: Type.Optional(Type.String({ minLength: 1 })),
  RQLITE_PASSWORD: Type.Optional(Type.String({ minLength: 1 })),
  RQLITE_CA: Type.Optional(Type.String({ minLength: 1, description: 'A file with certificates in PEM.' })),
  ADMIN_NAME: Type.String({ default: 'admin', pattern: ADMIN_NAME_PATTERN }),
  ADMIN_PASSWORD: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  JWT_SECRET: Type.Optional(Type.String({ minLength: 1 })),
  JWT_ISSUER: Type.Optional(
    Type.String({ pattern: WITHOUT_SPACES_PATTERN, description: 'The `iss` of the JWTs that are keys.' })
  ),
  JWT_AUDIENCE: Type.Optional(Type.String({ minLength: 1 })),
  JWT_JWKS_URL: Type.Optional(Type.String({ minLength: 1 })),
  JWT_PUBLIC_KEY_FILE: Type.Optional(Type.String({ minLength: 1, description: 'A file with a public key in PEM.' })),
  JWT_ROLE: Type.Optional(Type.String({ pattern: ROLE_OR_POINTER_PATTERN })),
  JWT_CLAIMS: Type.Optional(Type.String({ pattern: CLAIM_POINTERS_PATTERN })),
  PUBLIC_ROLE: Type.Optional(Type.String({ minLength: 1, description: 'The role of requests without a credential.' })),
  PUBLIC_REQUESTS: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Requests without a credential in a minute, for each network.'
  }),
  SESSION_TTL: Type.Integer({ default: 43_200, minimum: 60, maximum: 31_536_000, description: 'Seconds.' }),
  REQUIRE_PASSWORD_CHANGE: Type.Boolean({ default: false }),
  PASSWORD_MIN_LENGTH: Type.Integer({ default: 8, minimum: 8, maximum: 256 }),
  MAX_PAGE_SIZE: Type.Integer({ default: 1000, ...settingRules.maxPageSize }),
  BODY_LIMIT: Type.Integer({ default: 1_048_576, minimum: 1024, maximum: MAX_BODY_LIMIT, description: 'Bytes.' }),
  BATCH_LIMIT: Type.Integer({
    default: 16_777_216,
    minimum: 1024,
    maximum: MAX_BODY_LIMIT,
    description: 'Bytes of a batch.'
  }),
  IMPORT_LIMIT: Type.Integer({ default: 2 ** 30, minimum: 1024, maximum: 2 ** 40, description: 'Bytes of a file.' }),
  CACHE_SIZE: Type.Integer({
    default: 64,
    minimum: 1,
    maximum: 65_536,
    description: 'MiB of cached pages per connection.'
  }),
  // SQLite's default (1,000 pages) copies a page that changes often many times. With 48 MiB, updates are 1.2 times as
  // fast.
  WAL_SIZE: Type.Integer({ default: 48, minimum: 1, maximum: 65_536, description: 'MiB of the write-ahead log.' }),
  BACKUPS: Type.String({
    default: '',
    ...settingRules.backups,
    description: 'When to make a backup, as a cron expression.'
  }),
  BACKUP_KEEP: Type.String({
    default: '7d,4w,6m',
    ...settingRules.backupKeep,
    description: 'Which scheduled backups to keep.'
  }),
  BACKUP_DIR: Type.Optional(Type.String({ minLength: 1 })),
  AUDIT_KEEP: Type.String({
    default: '400d',
    ...settingRules.auditKeep,
    description: 'Days for which the audit is kept.'
  }),
  TRUST_PROXY: Type.String({ default: '', description: 'Addresses or networks of proxies, comma-separated.' }),
  CORS_ORIGIN: Type.String({
    default: '',
    ...settingRules.corsOrigins,
    description: 'Exact origins, comma-separated.'
  }),
  LOG_LEVEL: Type.Unsafe<LogLevel>({ type: 'string', default: 'warn', ...settingRules.logLevel }),
  ACCESS_LOG: Type.Boolean({ default: false }),
  METRICS_PORT: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535 })),
  METRICS_TOKEN: Type.Optional(Type.String({ pattern: METRICS_TOKEN_PATTERN }))
})
type Variables = Static<typeof ConfigSchema>

const schemas: Readonly<Record<string, TSchema>> = ConfigSchema.properties

const SETTINGS = Object.keys(schemas)

/**
 * The settings at the start. Those with a name in `settingVariables` can change later: services/settings/settings.ts has
 * their current values.
 */
export interface Config extends Omit<Variables, 'DATA_DIR'> {
  /** The directory of our files. */
  readonly DATA_DIR: string
  /** The settings that have a variable or an option of the command line. */
  readonly variables: ReadonlySet<string>
}

/** The variables of the settings that can change while the service runs. */
export const settingVariables = {
  logLevel: 'LOG_LEVEL',
  corsOrigins: 'CORS_ORIGIN',
  maxPageSize: 'MAX_PAGE_SIZE',
  backups: 'BACKUPS',
  backupKeep: 'BACKUP_KEEP',
  auditKeep: 'AUDIT_KEEP'
} as const satisfies Record<SettingName, keyof Variables>

/** Accepts an address, or a network in CIDR notation. Refuses a prefix of 0: every client could set its own address. */
export const isNetwork = (text: string) => {
  const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  if (family === 0) return false
  const bits = family === 4 ? 32 : 128
  return Number(prefix ?? bits) >= 1 && Number(prefix ?? bits) <= bits
}

const networksProblem = (list: string) => {
  const invalid = list.split(',').find((entry) => !isNetwork(entry.trim()))
  if (list === '' || invalid === undefined) return null
  return `must list addresses or networks such as 10.0.0.0/8, separated by commas. '${invalid}' is neither.`
}

const isOrigin = (text: string) =>
  /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text

/** Returns the origins of a comma-separated list. */
export const originsOf = (list: string) => (list === '' ? [] : list.split(',').map((origin) => origin.trim()))

/** `*` is not allowed, because responses carry credentials. */
const originsProblem = (list: string) => {
  const invalid = originsOf(list).find((origin) => !isOrigin(origin))
  if (invalid === undefined) return null
  return `must list exact origins such as https://app.example.org, separated by commas. '${invalid}' is not one.`
}

/** Returns the time zone of cron expressions, an IANA name. */
export const timeZone = () => process.env.TZ || 'UTC'

/** Returns why a cron expression has no times; null if it has. */
const cronProblem = (expression: string) => {
  try {
    const job = new Cron(expression, { timezone: timeZone(), paused: true })
    return job.nextRun() === null ? 'it has no next time' : null
  } catch (error) {
    return (error as Error).message
  }
}

const scheduleProblem = (expression: string) => {
  const problem = expression === '' ? null : cronProblem(expression)
  if (problem === null) return null
  return `must be a cron expression such as "0 3 * * *", in a known time zone (TZ). '${expression}' in ${timeZone()} is not: ${problem}.`
}

/** Returns the addresses of the nodes of a cluster. */
export const nodesOf = (list: string) => list.split(',').map((url) => url.trim())

/** A user and a password are not part of it: messages show the addresses. */
const isNode = (url: string) => {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return false
  const { href, origin } = new URL(url)
  return href === `${origin}/`
}

const nodesProblem = (list: string) => {
  const invalid = nodesOf(list).find((url) => !isNode(url))
  if (list === 'undefined' || invalid === undefined) return null
  return `must list addresses such as http://node1:4001, separated by commas. '${invalid}' is not one.`
}

const keySetProblem = (url: string) => {
  const isWeb = /^https?:\/\//i.test(url) && URL.canParse(url)
  return url === 'undefined' || isWeb
    ? null
    : `must be an address such as https://id.example.org/jwks. '${url}' is not one.`
}

/** Rules that a schema cannot express. Each returns the rest of a sentence that starts with the name, or null. */
const rules: Readonly<Record<string, (text: string) => string | null>> = {
  TRUST_PROXY: networksProblem,
  CORS_ORIGIN: originsProblem,
  RQLITE_URLS: nodesProblem,
  JWT_JWKS_URL: keySetProblem,
  BACKUPS: scheduleProblem
}

const assertRules = (config: Variables) => {
  const values = new Map<string, unknown>(Object.entries(config))
  for (const [name, problemOf] of Object.entries(rules)) {
    const problem = problemOf(String(values.get(name)))
    if (problem !== null) throw new Error(`${name} ${problem}`)
  }
}

/** An empty variable is usually meant to be unset. */
const toPhrase = (violation: Violation) =>
  violation.keyword === 'minLength' ? 'is empty: unset it, or give it a value' : violationPhrase(violation)

const defaults = Object.fromEntries(
  Object.entries(schemas).flatMap(([name, schema]) => (schema.default === undefined ? [] : [[name, schema.default]]))
)

/** A rule of a schema that a value breaks, as Ajv names it. */
interface Violation {
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
}

/** The keywords in the schemas of the settings. Ajv would compile them for a twentieth of a start. */
const KEYWORDS: Readonly<Record<string, { param: string; allows: (value: never, limit: never) => boolean }>> = {
  minLength: { param: 'limit', allows: (text: string, limit: number) => [...text].length >= limit },
  maxLength: { param: 'limit', allows: (text: string, limit: number) => [...text].length <= limit },
  pattern: { param: 'pattern', allows: (text: string, pattern: string) => new RegExp(pattern, 'u').test(text) },
  minimum: { param: 'limit', allows: (number: number, limit: number) => number >= limit },
  maximum: { param: 'limit', allows: (number: number, limit: number) => number <= limit }
}

const violationsOf = (schema: TSchema, value: unknown): readonly Violation[] => {
  const isOfType = schema.type === 'integer' ? Number.isSafeInteger(value) : typeof value === schema.type
  if (!isOfType) return [{ keyword: 'type', params: { type: schema.type } }]
  return Object.entries(KEYWORDS).flatMap(([keyword, { param, allows }]) =>
    schema[keyword] === undefined || allows(value as never, schema[keyword] as never)
      ? []
      : [{ keyword, params: { [param]: schema[keyword] } }]
  )
}

/** Converts the text of a variable to the type of its setting, or leaves it as text. */
const convertText = ({ type }: TSchema, text: string) => {
  if (type === 'integer' && text.trim() !== '' && !Number.isNaN(Number(text))) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/**
 * Returns the rule that a value of a changeable setting breaks, as the rest of a sentence that starts with its name; null
 * if the value is valid. The rules are those of the variable, but the value must already have its type.
 */
export const settingProblem = (name: SettingName, value: unknown): string | null => {
  const variable = settingVariables[name]
  const schema = schemas[variable] as TSchema
  const [violation] = violationsOf(schema, value)
  return violation ? `${violationPhrase(violation)}.` : (rules[variable]?.(String(value)) ?? null)
}

/** Returns the level of the log. Requests are logged at `info`. A more verbose LOG_LEVEL is kept. */
export const logLevelOf = ({ ACCESS_LOG, LOG_LEVEL }: Pick<Config, 'ACCESS_LOG' | 'LOG_LEVEL'>): LogLevel =>
  ACCESS_LOG && !['info', 'debug', 'trace'].includes(LOG_LEVEL) ? 'info' : LOG_LEVEL

/** The name of the database in DATA_DIR, without DATABASE. */
const OWN_DATABASE = 'rowhouse.db'

/** The path of a file without symbolic links. A file that does not exist has none. */
const realPath = (file: string) => (existsSync(file) ? realpathSync(file) : resolve(file))

/** An existing file gets a directory beside it. `rowhouse.db` is in its DATA_DIR. */
const dataDirOf = ({ DATA_DIR, DATABASE }: Variables) => {
  if (DATA_DIR !== undefined) return DATA_DIR
  if (DATABASE === undefined) return './data'
  const file = realPath(DATABASE)
  return basename(file) === OWN_DATABASE ? dirname(file) : `${file}-rowhouse`
}

/** Returns the path of the database, which need not exist, without symbolic links. */
export const databaseOf = ({ DATABASE, DATA_DIR }: Pick<Config, 'DATABASE' | 'DATA_DIR'>) =>
  realPath(DATABASE ?? join(DATA_DIR, OWN_DATABASE))

export const backupDirectoryOf = ({ BACKUP_DIR, DATA_DIR }: Pick<Config, 'BACKUP_DIR' | 'DATA_DIR'>) =>
  BACKUP_DIR ?? join(DATA_DIR, 'backups')

/** Settings that a cluster excludes, each with the reason. */
const FILE_SETTINGS: Readonly<Record<string, string>> = {
  DATABASE: 'a cluster is served instead of a file',
  BACKUPS: 'the backups of a cluster are those of rqlite'
}

/** @throws if the settings of a cluster are incomplete, or exclude each other */
const assertCluster = (config: Variables, variables: ReadonlySet<string>) => {
  if (config.RQLITE_URLS === undefined) return
  for (const [name, reason] of Object.entries(FILE_SETTINGS))
    if (variables.has(name)) throw new Error(`Unset ${name}, or RQLITE_URLS: ${reason}.`)
  if ((config.RQLITE_USER === undefined) !== (config.RQLITE_PASSWORD === undefined))
    throw new Error('Set RQLITE_USER and RQLITE_PASSWORD, or neither: one is of no use without the other.')
  if (config.JWT_SECRET === undefined)
    throw new Error(
      'Set JWT_SECRET beside RQLITE_URLS: all services of a cluster need the same one. Use the output of `openssl rand -hex 32`.'
    )
}

/** The settings of the JWTs of JWT_ISSUER. JWT_SECRET is for the sessions of administrators. */
const JWT_SETTINGS = ['JWT_AUDIENCE', 'JWT_ROLE', 'JWT_JWKS_URL', 'JWT_PUBLIC_KEY_FILE', 'JWT_CLAIMS'] as const

/** @throws if the settings of JWTs are incomplete, or exclude each other */
const assertJwtSettings = (config: Variables) => {
  const [given] = JWT_SETTINGS.filter((name) => config[name] !== undefined)
  if (config.JWT_ISSUER === undefined) {
    if (given) throw new Error(`Set JWT_ISSUER beside ${given}, or unset ${given}.`)
    return
  }
  for (const name of ['JWT_AUDIENCE', 'JWT_ROLE'] as const)
    if (config[name] === undefined) throw new Error(`Set ${name} beside JWT_ISSUER.`)
  if ((config.JWT_JWKS_URL === undefined) === (config.JWT_PUBLIC_KEY_FILE === undefined))
    throw new Error('Set either JWT_JWKS_URL or JWT_PUBLIC_KEY_FILE beside JWT_ISSUER.')
}

/** Returns the settings. @throws an Error that lists each invalid variable and its rule. */
export const readConfig = (env: NodeJS.ProcessEnv): Config => {
  const names = SETTINGS.filter((name) => env[name] !== undefined)
  const values = Object.fromEntries(
    names.map((name) => [name, convertText(schemas[name] as TSchema, env[name] as string)])
  )
  const problems = names.flatMap((name) =>
    violationsOf(schemas[name] as TSchema, values[name]).map((violation) => `${name} ${toPhrase(violation)}`)
  )
  if (problems.length > 0) throw new Error(`The configuration is invalid: ${problems.join('; ')}.`)
  const config = { ...defaults, ...values } as Variables
  const variables = new Set(names)
  assertRules(config)
  assertCluster(config, variables)
  assertJwtSettings(config)
  return { ...config, DATA_DIR: dataDirOf(config), variables }
}

const NAME = String.raw`(?:export\s+)?[A-Za-z_][\w.-]*`
const VALUE = String.raw`(?:(["'\x60])[^]*?\1|(?!["'\x60]))`
const SPACES = String.raw`[^\S\n]*`
/** A blank line, a comment, or NAME=VALUE. A value in quotes may have several lines. */
const ENTRY = new RegExp(`${SPACES}(?:${NAME}${SPACES}=${SPACES}${VALUE}[^\\n]*|#[^\\n]*)?(?:\\n|$)`, 'y')

/** Returns the number of the first line that Node's loader would misread or skip, from 1; null if there is none. */
export const findMalformedLine = (text: string) => {
  let position = 0
  while (position < text.length) {
    ENTRY.lastIndex = position
    if (!ENTRY.test(text)) return text.slice(0, position).split('\n').length
    position = ENTRY.lastIndex
  }
  return null
}

const readEnvironmentFile = (file: string) => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${resolve(file)} cannot be read: ${(error as Error).message}.`)
  }
}

/**
 * Sets the variables of the file that the environment does not have. Does nothing without the file.
 * @throws an Error that names the file, and a malformed line: Node's loader skips it, sometimes with those that follow
 */
export const loadEnvironmentFile = (file = '.env') => {
  if (!existsSync(file)) return
  const line = findMalformedLine(readEnvironmentFile(file))
  if (line !== null)
    throw new Error(`${resolve(file)} is malformed in line ${line}. Write NAME=value, quotes in pairs.`)
  process.loadEnvFile(file)
}

/** Returns 0 for up to 7 letters, 1 for 8, otherwise 2. Short names are as close to those of other programs: PROT, POST. */
const maxTypos = (setting: string) => Math.min(2, Math.max(0, setting.length - 7))

/** Settings that are not options of the command line: other users of a machine can read the arguments of a process. */
const SECRETS = ['ADMIN_PASSWORD', 'JWT_SECRET', 'METRICS_TOKEN', 'RQLITE_PASSWORD']

export interface SettingOption {
  readonly name: string
  readonly isSwitch: boolean
  /** The default as text; undefined if there is none. */
  readonly fallback: string | undefined
}

/** Returns the settings that are options of the command line. */
export const settingOptions = (): readonly SettingOption[] =>
  Object.entries<TSchema>(ConfigSchema.properties)
    .filter(([name]) => !SECRETS.includes(name))
    .map(([name, { type, default: fallback }]) => ({
      name,
      isSwitch: type === 'boolean',
      fallback: fallback === undefined || fallback === '' ? undefined : String(fallback)
    }))

const closestSetting = (name: string) => {
  return SETTINGS.find((setting) => countTypos(name, setting, maxTypos(setting)) < Number.POSITIVE_INFINITY)
}

export interface Misspelling {
  readonly name: string
  readonly setting: string
}

/** Returns the variables that are not settings, but differ from one by a typing error. */
export const findMisspellings = (env: NodeJS.ProcessEnv): readonly Misspelling[] =>
  Object.keys(env)
    .filter((name) => !SETTINGS.includes(name))
    .flatMap((name) => {
      const setting = closestSetting(name)
      return setting === undefined ? [] : [{ name, setting }]
    })
