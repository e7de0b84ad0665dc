import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { temporaryDirectory } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { SEED } from './random.ts'
import { setStage } from './stage.ts'
import { survives } from './survival.ts'

/** An independent judge of the document: `pip install schemathesis`, and its command in PATH or in SCHEMATHESIS. */
const COMMAND = process.env.SCHEMATHESIS ?? 'schemathesis'
const isThere = spawnSync(COMMAND, ['--version']).status === 0

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance'
]
/** They end what everything else is sent with. */
const DISARMING = ['logOut', 'changeToken', 'revokeToken']

/** The document without the one pattern that Python's regular expressions cannot say (`\p{C}`). */
const documentForPython = () => readFileSync('openapi.json', 'utf8').replaceAll(/"pattern": "[^"]*\\\\p\{.*",/g, '')

t.test(
  'schemathesis finds no answer outside the document',
  { skip: !isThere && `there is no ${COMMAND}` },
  async (t) => {
    const { service, cookie, token } = await setStage(t)
    const directory = temporaryDirectory(t)
    const file = join(directory, 'openapi.json')
    writeFileSync(file, documentForPython())
    const child = spawn(
      COMMAND,
      [
        ...['run', file, '--url', service.address, '--no-color', '--seed', String(SEED)],
        ...['--header', `Cookie: ${cookie}`, '--header', `Authorization: Bearer ${token}`],
        ...['--checks', CHECKS.join(','), '--max-time', String(scaled(80)), '--generation-database', 'none'],
        ...DISARMING.flatMap((operation) => ['--exclude-operation-id', operation])
      ],
      { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] }
    )
    t.teardown(() => child.kill())
    let said = ''
    child.stdout.on('data', (chunk) => {
      said += chunk
    })
    const [code] = await once(child, 'close')
    t.equal(code, 0, said)
    t.comment(`${/Test cases:\s*(.*)/.exec(said)?.[1]}, SEED=${SEED}`)
    t.match(said, /\d+ generated/)
    await survives(t, service)
  }
)
