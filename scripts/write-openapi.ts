import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp } from '../app.ts'
import { readConfig } from '../config.ts'

/** The committed document, in the directory that the script is started in. */
const FILE = 'openapi.json'

const generate = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rowhouse-openapi-'))
  const app = await buildApp({ config: readConfig({ DATA_DIR: directory }), onDeath: console.error })
  try {
    const response = await app.inject('/openapi.json')
    return `${JSON.stringify(response.json(), null, 2)}\n`
  } finally {
    await app.close()
    rmSync(directory, { recursive: true })
  }
}

const readCommitted = () => {
  try {
    return readFileSync(FILE, 'utf8')
  } catch {
    return ''
  }
}

const document = await generate()
if (!process.argv.includes('--check')) {
  writeFileSync(FILE, document)
} else if (readCommitted() !== document) {
  process.stderr.write(`${FILE} is stale. Run npm run openapi, and commit what it writes.\n`)
  process.exitCode = 1
}
