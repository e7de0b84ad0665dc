import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RECORD_DIRECTORY } from './error-record.ts'

// Run by `npm run coverage`, after `npm test` and `npm run test:process`: lists the declared codes that neither has observed.
// A code that is observed but not declared fails its test at once: see `checkResponses`.

interface Operation {
  readonly operationId: string
  readonly 'x-error-codes': readonly string[]
}

const readRecord = () => {
  const files = readdirSync(RECORD_DIRECTORY)
  return new Set(files.flatMap((file) => readFileSync(join(RECORD_DIRECTORY, file), 'utf8').trim().split('\n')))
}

const readOperations = (): readonly Operation[] => {
  const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as { paths: Record<string, object> }
  return Object.values(paths).flatMap((methods) => Object.values(methods))
}

/** Lines such as `SCAN_TIMEOUT: readRecord, listRecords`. */
const findUnobserved = () => {
  const observed = readRecord()
  const operationsByCode = new Map<string, string[]>()
  for (const { operationId, 'x-error-codes': codes } of readOperations()) {
    for (const code of codes.filter((declared) => !observed.has(`${operationId} ${declared}`))) {
      operationsByCode.set(code, [...(operationsByCode.get(code) ?? []), operationId])
    }
  }
  return [...operationsByCode].sort().map(([code, operations]) => `  ${code}: ${operations.join(', ')}`)
}

const lines = findUnobserved()
process.stdout.write(`Declared error codes that no test has observed, by code:\n${lines.join('\n')}\n`)
