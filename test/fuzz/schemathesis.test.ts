import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { createEnvironment } from './environment.ts'
import { SEED } from './random.ts'
import { expectSurvival } from './survival.ts'

/** An independent test tool for OpenAPI: `pip install schemathesis`. Its command is in PATH or in SCHEMATHESIS. */
const COMMAND = process.env.SCHEMATHESIS ?? 'schemathesis'
const isInstalled = spawnSync(COMMAND, ['--version']).status === 0

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance'
]
/** It takes seconds until the first generated case. */
const MAX_SECONDS = Math.max(8, scaled(80))
/** Operations that would end the credentials of the test, and those that take files, which it cannot generate. */
const EXCLUDED = [
  ...['logOut', 'adminUpdateToken', 'adminRotateToken', 'adminRevokeToken'],
  ...['importRecords', 'adminImportRecords', 'adminCreateTableFromFile', 'adminUploadBackup']
]

/** Returns the document without the default responses, which would document every status. */
const strictDocument = () =>
  JSON.stringify(JSON.parse(readFileSync('openapi.json', 'utf8')), (key, value) =>
    key === 'default' ? undefined : value
  )

t.test(
  'schemathesis finds no response outside the document',
  { skip: !isInstalled && `${COMMAND} is not installed` },
  async (t) => {
    const { service, cookie, token } = await createEnvironment(t)
    const directory = temporaryDirectory(t)
    const file = join(directory, 'openapi.json')
    writeFileSync(file, strictDocument())
    const child = spawn(
      COMMAND,
      [
        ...['run', file, '--url', service.address, '--no-color', '--seed', String(SEED)],
        ...['--header', `Cookie: ${cookie}`, '--header', `Authorization: Bearer ${token}`],
        ...['--checks', CHECKS.join(','), '--max-time', String(MAX_SECONDS), '--generation-database', 'none'],
        ...EXCLUDED.flatMap((operation) => ['--exclude-operation-id', operation])
      ],
      { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] }
    )
    t.teardown(() => child.kill())
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    const [code] = await once(child, 'close')
    t.equal(code, 0, output)
    t.comment(`${/Test cases:\s*(.*)/.exec(output)?.[1]}, SEED=${SEED}`)
    t.match(output, /\d+ generated/)
    await expectSurvival(t, service)
  }
)
