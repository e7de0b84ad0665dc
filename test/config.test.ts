import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  findMalformedLine,
  findMisspellings,
  isNetwork,
  loadEnvironmentFile,
  logLevelOf,
  nodesOf,
  originsOf,
  readConfig,
  settingProblem
} from '../config.ts'

const WITHOUT_DEFAULT = [
  'DATABASE',
  'RQLITE_URLS',
  'RQLITE_USER',
  'RQLITE_PASSWORD',
  'RQLITE_CA',
  'BACKUP_DIR',
  'ADMIN_PASSWORD',
  'JWT_SECRET',
  'JWT_ISSUER',
  'JWT_AUDIENCE',
  'JWT_ROLE',
  'JWT_CLAIMS',
  'JWT_JWKS_URL',
  'JWT_PUBLIC_KEY_FILE',
  'PUBLIC_ROLE',
  'METRICS_PORT',
  'METRICS_TOKEN'
]

t.test('without variables, the defaults apply', async (t) => {
  t.match(readConfig({}), {
    HOST: '127.0.0.1',
    PORT: 3000,
    DATA_DIR: './data',
    DATABASE: undefined,
    ADMIN_NAME: 'admin',
    SESSION_TTL: 43_200,
    REQUIRE_PASSWORD_CHANGE: false,
    MAX_PAGE_SIZE: 1000,
    PASSWORD_MIN_LENGTH: 8,
    BODY_LIMIT: 1_048_576,
    BATCH_LIMIT: 16_777_216,
    PUBLIC_REQUESTS: 60,
    CACHE_SIZE: 64,
    WAL_SIZE: 48,
    AUDIT_KEEP: '400d',
    TRUST_PROXY: '',
    CORS_ORIGIN: '',
    LOG_LEVEL: 'warn',
    ACCESS_LOG: false
  })
})

t.test('the table in the guide names every setting, with its default', async (t) => {
  const guide = readFileSync('docs/guides/configure.md', 'utf8')
  const rows = [...guide.matchAll(/^\| `([A-Z_]+)` \| (?:`(.+?)` )?\|/gm)].map(([, name, value = '']) => [name, value])
  const { variables: _, ...config } = readConfig({})
  const defaults = Object.entries(config).map(([name, value]) => [name, String(value)])
  const optional = WITHOUT_DEFAULT.map((name) => [name, ''])
  t.strictSame(
    new Map(rows.sort() as [string, string][]),
    new Map([...defaults, ...optional].sort() as [string, string][])
  )
})

t.test('without DATA_DIR, our files are beside DATABASE', async (t) => {
  t.equal(readConfig({ DATABASE: '/srv/shop.sqlite' }).DATA_DIR, '/srv/shop.sqlite-rowhouse')
  t.equal(readConfig({ DATABASE: '/srv/data/rowhouse.db' }).DATA_DIR, '/srv/data')
  t.equal(readConfig({ DATABASE: '/srv/shop.sqlite', DATA_DIR: '/var/lib' }).DATA_DIR, '/var/lib')
})

t.test('variables are converted to the types of their settings', async (t) => {
  const config = readConfig({ PORT: '8080', REQUIRE_PASSWORD_CHANGE: 'true', ADMIN_PASSWORD: 'short', PATH: '/bin' })
  t.match(config, { PORT: 8080, REQUIRE_PASSWORD_CHANGE: true, ADMIN_PASSWORD: 'short' })
  t.notOk('PATH' in config, 'other variables are ignored')
})

t.test('an invalid variable is named with its rule', async (t) => {
  t.throws(() => readConfig({ PORT: '70000' }), { message: /: PORT must be at most 65535\./ })
  t.throws(() => readConfig({ ADMIN_PASSWORD: 'x'.repeat(257) }), {
    message: /ADMIN_PASSWORD must have at most 256 characters/
  })
  t.throws(() => readConfig({ PORT: 'http' }), { message: /PORT must be an integer/ })
  t.throws(() => readConfig({ ACCESS_LOG: 'yes' }), { message: /ACCESS_LOG must be true or false/ })
  for (const name of ['ADMIN_PASSWORD', 'JWT_SECRET', 'DATABASE', 'DATA_DIR', 'BACKUP_DIR'])
    t.throws(() => readConfig({ [name]: '' }), { message: new RegExp(`${name} is empty: unset it`) })
  t.equal(readConfig({ BODY_LIMIT: '524288000' }).BODY_LIMIT, 500 * 2 ** 20)
  t.throws(() => readConfig({ BODY_LIMIT: '524288001' }), { message: /BODY_LIMIT must be at most 524288000/ })
  t.throws(() => readConfig({ LOG_LEVEL: 'loud', BODY_LIMIT: '1' }), {
    message: /BODY_LIMIT must be at least 1024; LOG_LEVEL must be one of fatal, error/
  })
})

t.test('METRICS_TOKEN accepts text that fits into a header', async (t) => {
  for (const METRICS_TOKEN of ['0123456789abcdef', '~'.repeat(256)])
    t.equal(readConfig({ METRICS_TOKEN }).METRICS_TOKEN, METRICS_TOKEN)
  for (const METRICS_TOKEN of ['', '0123456789abcde', 'a b'.repeat(6), 'ü'.repeat(16), '~'.repeat(257)])
    t.throws(() => readConfig({ METRICS_TOKEN }), {
      message: /METRICS_TOKEN must be 16 to 256 printable ASCII characters without spaces/
    })
})

t.test('text that converts to Infinity is refused', async (t) => {
  for (const text of ['1e400', '-1e400', 'Infinity'])
    t.throws(() => readConfig({ SESSION_TTL: text }), { message: /SESSION_TTL must be an integer/ }, text)
  t.equal(readConfig({ SESSION_TTL: '3600' }).SESSION_TTL, 3600)
})

t.test('ACCESS_LOG sets the log level to info, unless it is more verbose', async (t) => {
  const level = (LOG_LEVEL: string, ACCESS_LOG = 'true') => logLevelOf(readConfig({ LOG_LEVEL, ACCESS_LOG }))
  for (const quieter of ['silent', 'error', 'warn', 'info']) t.equal(level(quieter), 'info', quieter)
  for (const verbose of ['debug', 'trace']) t.equal(level(verbose), verbose)
  t.equal(level('warn', 'false'), 'warn')
})

t.test('TRUST_PROXY accepts addresses and networks', async (t) => {
  const TRUST_PROXY = '127.0.0.1, 10.0.0.0/8,::1,fd00::/8'
  t.equal(readConfig({ TRUST_PROXY }).TRUST_PROXY, TRUST_PROXY)
  for (const entry of [
    'true',
    '10.0.0.0/33',
    '10.0.0.0/',
    'proxy.example.org',
    '::1/129',
    '1/8',
    '0.0.0.0/0',
    '::/0'
  ]) {
    t.throws(() => readConfig({ TRUST_PROXY: `10.0.0.1,${entry}` }), { message: `'${entry}' is neither` })
  }
})

t.test('CORS_ORIGIN accepts exact origins', async (t) => {
  const origins = ['https://app.example.org', 'http://localhost:5173']
  t.strictSame(originsOf(readConfig({ CORS_ORIGIN: origins.join(', ') }).CORS_ORIGIN), origins)
  for (const entry of [
    '*',
    'null',
    'app.example.org',
    'https://app.example.org/',
    'https://*.example.org',
    '',
    'https://:80',
    'ftp://example.org'
  ]) {
    const message = `CORS_ORIGIN must list exact origins such as https://app.example.org, separated by commas. '${entry}' is not one.`
    t.throws(() => readConfig({ CORS_ORIGIN: `https://a.org,${entry}` }), { message })
  }
})

t.test('AUDIT_KEEP is a number of days', async (t) => {
  for (const AUDIT_KEEP of ['1d', '99999d']) t.equal(readConfig({ AUDIT_KEEP }).AUDIT_KEEP, AUDIT_KEEP)
  for (const AUDIT_KEEP of ['', '0d', '01d', '100000d', '1.5d', '400', '1y', '-1d'])
    t.throws(() => readConfig({ AUDIT_KEEP }), { message: /AUDIT_KEEP must be a number of days, such as 400d/ })
})

t.test('ADMIN_NAME accepts printable text, like the names of other administrators', async (t) => {
  for (const ADMIN_NAME of ['Zoë', '管理', 'a b'.repeat(33)]) t.equal(readConfig({ ADMIN_NAME }).ADMIN_NAME, ADMIN_NAME)
  for (const ADMIN_NAME of ['', 'a\u0007', 'a\nb', 'a\u2028b', 'a'.repeat(101)])
    t.throws(() => readConfig({ ADMIN_NAME }), { message: /ADMIN_NAME must be 1 to 100 printable characters/ })
})

t.test('a line of .env that Node would skip or misread is found', async (t) => {
  for (const text of [
    '',
    'PORT=8080',
    'PORT=8080\r\n\r\nHOST = ::1 # all\r\n',
    '# comment\n  # another\n\nexport PORT=1\n',
    'ADMIN_PASSWORD="two\nlines, and = signs"\nPORT=1',
    'JWT_SECRET=\'it is "quoted"\' # comment',
    'A=`1`\nB=\nC=a"b\n_d.e-f=1\n'
  ])
    t.equal(findMalformedLine(text), null, text)
  for (const [text, line] of [
    ['PORT', 1],
    ['PORT 8080\nHOST=::1', 1],
    ['A=1\n\n: 2\n', 3],
    ['A="1\n2"\nB', 3],
    ['A="open\nB=1\n', 1],
    ['{ "PORT": 8080 }', 1],
    ['\ufffd\ufffdP\u0000O\u0000', 1]
  ] as const)
    t.equal(findMalformedLine(text), line, text)
})

t.test('a .env file is optional, and must be readable', async (t) => {
  const directory = t.testdir({ folder: {}, settings: 'ROWHOUSE_TEST_SET=file\nROWHOUSE_TEST_NEW=file\n' })
  t.teardown(() => {
    for (const name of ['ROWHOUSE_TEST_SET', 'ROWHOUSE_TEST_NEW']) delete process.env[name]
  })
  process.env.ROWHOUSE_TEST_SET = 'environment'
  loadEnvironmentFile(join(directory, 'missing'))
  loadEnvironmentFile(join(directory, 'settings'))
  t.equal(process.env.ROWHOUSE_TEST_SET, 'environment')
  t.equal(process.env.ROWHOUSE_TEST_NEW, 'file')
  const folder = join(directory, 'folder')
  t.throws(() => loadEnvironmentFile(folder), { message: new RegExp(`^${folder} cannot be read: EISDIR`) })
})

t.test('a variable that is a setting with a typing error is found', async (t) => {
  const find = (name: string) => findMisspellings({ [name]: '' })[0]?.setting
  for (const [name, setting] of [
    ['ACCES_LOG', 'ACCESS_LOG'],
    ['ADMIN_PASSWRD', 'ADMIN_PASSWORD'],
    ['ADMIN_PASSOWRD', 'ADMIN_PASSWORD'],
    ['DATADIR', 'DATA_DIR'],
    ['DATABSAE', 'DATABASE'],
    ['CORS_ORIGINS', 'CORS_ORIGIN'],
    ['TRUSTED_PROXY', 'TRUST_PROXY'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['REQUIRE_PASSWORD_CHNAGES', 'REQUIRE_PASSWORD_CHANGE']
  ] as const)
    t.equal(find(name), setting, name)
})

t.test('settings and variables of other programs are not taken for typing errors', async (t) => {
  const settings = [...Object.keys(readConfig({})).filter((name) => name !== 'variables'), ...WITHOUT_DEFAULT]
  const others = `HOSTNAME PORTAL LOGNAME HOSTS PORTS POST HOST_NAME DATABASE_URL MAX_SIZE LOG_FILE PATH PWD HOME USER SHELL
    ADMIN_EMAIL ADMIN_USER CACHE_DIR SESSION_KEY SESSION_ID NODE_ENV NODE_OPTIONS SQLITE_TMPDIR TMPDIR LANG TERM
    XDG_DATA_DIRS XDG_CACHE_HOME KUBERNETES_PORT HTTP_PROXY NO_PROXY PAGE_SIZE JWT_SECRET_KEY`
  for (const name of [...settings, ...others.split(/\s+/)]) t.strictSame(findMisspellings({ [name]: '' }), [], name)
})

t.test('BACKUP_KEEP lists numbers of days, weeks and months, or nothing', async (t) => {
  for (const keep of ['', '7d', '7d,4w,6m', '365d']) t.equal(readConfig({ BACKUP_KEEP: keep }).BACKUP_KEEP, keep)
  for (const keep of ['7', '7y', '0d', '7d,', '7d 4w', '-1d'])
    t.throws(() => readConfig({ BACKUP_KEEP: keep }), {
      message: /BACKUP_KEEP must list numbers of days, weeks and months/
    })
})

t.test('the settings that have a variable are known, also empty ones', async (t) => {
  t.strictSame([...readConfig({ PORT: '0', BACKUPS: '', PATH: '/bin' }).variables].sort(), ['BACKUPS', 'PORT'])
})

t.test('BACKUPS is empty or a cron expression in a known time zone', async (t) => {
  const { TZ } = process.env
  t.teardown(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
  process.env.TZ = ''
  for (const BACKUPS of ['', '0 3 * * *', '0 0 3 * * *']) t.equal(readConfig({ BACKUPS }).BACKUPS, BACKUPS)
  const refused = (BACKUPS: string, message: RegExp) => t.throws(() => readConfig({ BACKUPS }), { message }, BACKUPS)
  refused('every night', /^BACKUPS must be a cron expression such as .* 'every night' in UTC is not: /)
  refused('0 0 30 2 *', /'0 0 30 2 \*' in UTC is not: it has no next time\.$/)
  process.env.TZ = 'Mars/Olympus'
  refused('0 3 * * *', /'0 3 \* \* \*' in Mars\/Olympus is not: /)
})

t.test('a setting that can change has the rules of its variable, without conversion', async (t) => {
  for (const [name, value] of [
    ['logLevel', 'debug'],
    ['corsOrigins', 'https://a.org, https://b.org'],
    ['maxPageSize', 10_000],
    ['backups', '0 3 * * *'],
    ['backupKeep', ''],
    ['auditKeep', '1d']
  ] as const)
    t.equal(settingProblem(name, value), null, name)
  for (const [name, value, problem] of [
    ['logLevel', 'loud', 'must be one of fatal, error, warn, info, debug, trace, silent.'],
    ['corsOrigins', '*', /^must list exact origins .* '\*' is not one\.$/],
    ['maxPageSize', '5', 'must be an integer.'],
    ['maxPageSize', 10_001, 'must be at most 10000.'],
    ['backups', 'daily', /^must be a cron expression /],
    ['backups', undefined, 'must be a string.'],
    ['auditKeep', '0d', 'must be a number of days, such as 400d, of at most 99999d.']
  ] as const)
    t.match(settingProblem(name, value), problem, `${name} ${value}`)
})

const CLUSTER = { RQLITE_URLS: 'http://node1:4001', JWT_SECRET: 'a'.repeat(64) }

t.test('RQLITE_URLS lists addresses of nodes', async (t) => {
  for (const RQLITE_URLS of ['http://node1:4001', 'https://node1:4001/, http://[::1]:4001,http://10.0.0.1'])
    t.equal(readConfig({ ...CLUSTER, RQLITE_URLS }).RQLITE_URLS, RQLITE_URLS)
  t.strictSame(nodesOf('http://a:1, http://b:1'), ['http://a:1', 'http://b:1'])
  for (const url of [
    'node1:4001',
    'ftp://node1',
    'http://',
    'http://node1/db',
    'http://ann:secret@node1',
    'http://a?b',
    ''
  ])
    t.throws(() => readConfig({ ...CLUSTER, RQLITE_URLS: `http://node1:4001,${url}` }), {
      message: `RQLITE_URLS must list addresses such as http://node1:4001, separated by commas. '${url}' is not one.`
    })
})

t.test('a cluster excludes the settings of a file, and needs those that its services share', async (t) => {
  const refused = (env: NodeJS.ProcessEnv, message: string | RegExp) =>
    t.throws(() => readConfig({ ...CLUSTER, ...env }), { message })
  t.match(readConfig(CLUSTER), { ...CLUSTER, DATA_DIR: './data', BACKUPS: '' })
  refused({ DATABASE: 'shop.sqlite' }, 'Unset DATABASE, or RQLITE_URLS: a cluster is served instead of a file.')
  for (const BACKUPS of ['0 3 * * *', ''])
    refused({ BACKUPS }, 'Unset BACKUPS, or RQLITE_URLS: the backups of a cluster are those of rqlite.')
  refused(
    { JWT_SECRET: undefined },
    /^Set JWT_SECRET beside RQLITE_URLS: all services of a cluster need the same one\./
  )
  t.equal(readConfig({ DATABASE: 'shop.sqlite', BACKUPS: '0 3 * * *' }).RQLITE_URLS, undefined)
})

t.test('RQLITE_USER and RQLITE_PASSWORD need each other', async (t) => {
  const user = { RQLITE_USER: 'rowhouse', RQLITE_PASSWORD: 'secret' }
  t.match(readConfig({ ...CLUSTER, ...user }), user)
  for (const name of ['RQLITE_USER', 'RQLITE_PASSWORD'])
    t.throws(() => readConfig({ ...CLUSTER, ...user, [name]: undefined }), {
      message: 'Set RQLITE_USER and RQLITE_PASSWORD, or neither: one is of no use without the other.'
    })
  for (const name of ['RQLITE_URLS', 'RQLITE_USER', 'RQLITE_PASSWORD', 'RQLITE_CA'])
    t.throws(() => readConfig({ ...CLUSTER, [name]: '' }), { message: new RegExp(`${name} is empty: unset it`) })
})

const JWT = {
  JWT_ISSUER: 'https://id.example.org',
  JWT_AUDIENCE: 'shop',
  JWT_ROLE: 'customer',
  JWT_JWKS_URL: 'https://id.example.org/jwks'
}

t.test('the settings of JWTs need each other', async (t) => {
  const refused = (env: NodeJS.ProcessEnv, message: string) =>
    t.throws(() => readConfig({ ...JWT, ...env }), { message })
  t.match(readConfig(JWT), JWT)
  const JWT_PUBLIC_KEY_FILE = 'key.pem'
  t.match(readConfig({ ...JWT, JWT_JWKS_URL: undefined, JWT_PUBLIC_KEY_FILE }), { JWT_PUBLIC_KEY_FILE })
  refused({ JWT_AUDIENCE: undefined }, 'Set JWT_AUDIENCE beside JWT_ISSUER.')
  refused({ JWT_ROLE: undefined }, 'Set JWT_ROLE beside JWT_ISSUER.')
  const oneSource = 'Set either JWT_JWKS_URL or JWT_PUBLIC_KEY_FILE beside JWT_ISSUER.'
  refused({ JWT_JWKS_URL: undefined }, oneSource)
  refused({ JWT_PUBLIC_KEY_FILE }, oneSource)
  refused({ JWT_ISSUER: undefined }, 'Set JWT_ISSUER beside JWT_AUDIENCE, or unset JWT_AUDIENCE.')
  t.throws(() => readConfig({ JWT_CLAIMS: 'a=/b' }), { message: /^Set JWT_ISSUER beside JWT_CLAIMS/ })
  t.equal(readConfig({ JWT_SECRET: 'a'.repeat(64) }).JWT_ISSUER, undefined)
})

t.test('the settings of JWTs have rules', async (t) => {
  const refused = (env: NodeJS.ProcessEnv, message: RegExp) =>
    t.throws(() => readConfig({ ...JWT, ...env }), { message })
  for (const JWT_ROLE of ['customer', 'a b', '/role', '/https:~1~1example.org~1roles/0', '/', 'a/b'])
    t.equal(readConfig({ ...JWT, JWT_ROLE }).JWT_ROLE, JWT_ROLE)
  for (const JWT_ROLE of ['', '/a~2', '/a~', '/a,/b'])
    refused({ JWT_ROLE }, /JWT_ROLE must be the name of a role, or a JSON/)
  for (const JWT_CLAIMS of ['a=/b', 'a=/b, c-d=/https:~1~1x.org/e?f=g', 'a=/'])
    t.equal(readConfig({ ...JWT, JWT_CLAIMS }).JWT_CLAIMS, JWT_CLAIMS)
  for (const JWT_CLAIMS of ['', 'a', 'a=b', '=/b', 'a=/b,', 'a=/b~2', 'a b=/c', 'a = /b', `${'a'.repeat(101)}=/b`])
    refused({ JWT_CLAIMS }, /JWT_CLAIMS must list names and JSON pointers such as customer=\/customer_id/)
  for (const JWT_JWKS_URL of ['id.example.org', 'file:///etc/keys', 'https://', 'ftp://id.example.org'])
    refused({ JWT_JWKS_URL }, /^JWT_JWKS_URL must be an address such as https:\/\/id\.example\.org\/jwks\. '/)
  t.equal(readConfig({ ...JWT, JWT_JWKS_URL: 'http://id:8080/jwks' }).JWT_JWKS_URL, 'http://id:8080/jwks')
  for (const JWT_ISSUER of ['', 'https://id.example.org /'])
    refused({ JWT_ISSUER }, /JWT_ISSUER must have .* no spaces/)
  for (const PUBLIC_REQUESTS of ['0', '1000001', '1.5']) refused({ PUBLIC_REQUESTS }, /PUBLIC_REQUESTS must be/)
})

t.test('a network is an address or has CIDR notation', async (t) => {
  for (const text of ['10.0.0.1', '10.0.0.0/8', '10.0.0.0/32', '::1', '2001:db8::/32', '2001:db8::/128'])
    t.ok(isNetwork(text), text)
  for (const text of [
    '',
    '10.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '2001:db8::/129',
    '10.0.0.0/8/8',
    'a.example'
  ])
    t.notOk(isNetwork(text), text)
})
