import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import t from 'tap'
import { plainNode } from '../plain-process.ts'

interface Inputs {
  readonly documents: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
  readonly versions: Readonly<Record<string, string>>
}

interface Verified extends Inputs {
  readonly targets: Readonly<Record<string, string>>
}

type Differences = (verified: Partial<Verified>, inputs: Inputs, targets: readonly string[]) => readonly string[]

const { differences }: { readonly differences: Differences } = await import(resolve('clients/verified.js'))

t.test('clients/verified.json is current, and every target is listed as passed', async (t) => {
  const [command, ...args] = [...plainNode(), resolve('clients/run.js'), '--check']
  // Its output lists the changes, and has the command to run.
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  t.equal(stdout, 'clients/verified.json is current.\n')
  t.equal(status, 0)
})

const INPUTS: Inputs = {
  documents: { generic: '1', odd: '2' },
  files: { 'clients/': '3' },
  versions: { mypy: '2.4.1' }
}
const VERIFIED: Verified = { ...INPUTS, targets: { go: 'passed', rust: 'passed' } }

t.test('a file with the same digests, versions and targets is current', async (t) => {
  t.strictSame(differences(VERIFIED, INPUTS, ['go', 'rust']), [])
})

t.test('each change is named', async (t) => {
  const inputs = { documents: { generic: '1', odd: '4' }, files: { 'clients/': '5' }, versions: { mypy: '2.5.0' } }
  t.strictSame(differences(VERIFIED, inputs, ['go', 'java']), [
    'The document odd has changed.',
    'The files in clients/ have changed.',
    'The version of mypy has changed.',
    'java has not passed.'
  ])
})

t.test('a document or a generator that is added or removed is named', async (t) => {
  const inputs = { ...INPUTS, documents: { generic: '1', role: '2' }, versions: { mypy: '2.4.1', zod: '4.6.7' } }
  t.strictSame(differences(VERIFIED, inputs, ['go']), [
    'The document role has changed.',
    'The document odd has changed.',
    'The version of zod has changed.'
  ])
  t.match(differences({}, INPUTS, ['go']), ['The document generic has changed.'])
})
