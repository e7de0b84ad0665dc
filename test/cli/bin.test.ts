import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const program = fileURLToPath(new URL('../../cli/bin.js', import.meta.url))
const { engines } = JSON.parse(readFileSync('package.json', 'utf8'))

/** Runs `rowhouse --version` as if Node had this version. */
const runOn = (version: string) => {
  const change = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const preload = `data:text/javascript,${encodeURIComponent(change)}`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', preload, program, '--version'], {
    encoding: 'utf8'
  })
  return { status, stdout, stderr }
}

t.test('the program runs on the versions that package.json names', async (t) => {
  t.equal(engines.node, '>=22.14')
  for (const version of ['22.14.0', '22.15.1', '23.0.0', '24.1.0', '26.12.1'])
    t.match(runOn(version), { status: 0, stdout: /^\d+\.\d+\.\d+\n$/, stderr: '' }, version)
})

t.test('an older version gets one line that says what is needed', async (t) => {
  for (const version of ['18.20.0', '20.20.2', '22.13.1']) {
    t.strictSame(runOn(version), {
      status: 1,
      stdout: '',
      stderr: `Rowhouse needs Node.js 22.14 or newer. This is Node.js ${version}.\n`
    })
  }
})
