import fc from 'fast-check'
import { command, pick } from '../harness.ts'
import { type FileValue, type ImportedFile, importFile } from '../imports.ts'
import { counted } from '../outcomes.ts'
import type { Body } from '../records.ts'
import { toJson } from '../values.ts'
import { selector, value } from './arbitraries.ts'
import { ANY_VALUE, type Entry, newBody, rowAt } from './records.ts'
import { findTarget, sendAs, type TargetTable, target } from './targets.ts'

type Rule = Parameters<typeof sendAs>[3]

/** One of 200 values is put into a field of any type. It fails the import. */
const entry = fc.record<Entry>({ at: selector, value, isUnchecked: fc.nat(199).map((n) => n === 199) })

const recordInput = fc.record({ entries: fc.array(entry, { maxLength: 3 }), seed: selector, row: selector })
interface RecordInput {
  readonly entries: readonly Entry[]
  readonly seed: number
  readonly row: number
}

const bodyOf = (targetTable: TargetTable, { entries, seed, row }: RecordInput, isUpsert: boolean): Body => {
  const body = newBody(targetTable, entries, seed)
  const known = isUpsert && seed % 2 === 0 ? rowAt(targetTable, row) : undefined
  const { table, fields } = targetTable
  const keys = fields.filter(({ isPrimary }) => isPrimary && (isUpsert || (seed % 3 === 0 && table.isRowidKey)))
  for (const { name, jsonType } of keys)
    body[name] = known
      ? toJson(jsonType, known.get(name) ?? null)
      : (body[name] ?? pick(ANY_VALUE[jsonType], seed >> 2))
  return body
}

/** Gives all records these fields, in nine of ten files. */
const complete = (targetTable: TargetTable, body: Body, names: readonly string[], seed: number): Body => {
  const valueFor = (name: string) => {
    if (name in body) return body[name]
    const field = targetTable.fields.find((candidate) => candidate.name === name)
    const isNullable = field?.nullable && !field.isPrimary
    return !field || isNullable ? null : pick(ANY_VALUE[field.jsonType], seed)
  }
  return Object.fromEntries(names.map((name) => [name, valueFor(name)]))
}

const quote = (text: string) => `"${text.replaceAll('"', '""')}"`

/** Returns the text of a cell in the file. */
const toCell = (value: unknown) => {
  if (value === null) return ''
  if (typeof value === 'object') return quote(JSON.stringify(value))
  return typeof value === 'string' && !/^[a-z]+$/.test(value) ? quote(value) : String(value)
}

const toCellValue = (value: unknown): FileValue => {
  if (value === null) return { cell: null }
  return { cell: typeof value === 'object' ? JSON.stringify(value) : String(value) }
}

interface WrittenFile extends Pick<ImportedFile, 'header' | 'records'> {
  readonly text: string
  readonly type: string
}

const toCsv = (names: readonly string[], bodies: readonly Body[]): WrittenFile => {
  let text = `${names.join()}\n`
  const records = bodies.map((body) => {
    const line = text.split('\n').length
    text += `${names.map((name) => toCell(body[name])).join()}\n`
    return { line, values: names.map((name) => [name, toCellValue(body[name])] as const) }
  })
  return { text, type: 'text/csv', header: names, records }
}

const toNdjson = (bodies: readonly Body[]): WrittenFile => ({
  text: bodies.map((body) => `${JSON.stringify(body)}\n`).join(''),
  type: 'application/x-ndjson',
  header: null,
  records: bodies.map((body, index) => ({
    line: index + 1,
    values: Object.entries(body).map(([name, json]) => [name, { json }] as const)
  }))
})

const namesIn = (bodies: readonly Body[]) => [...new Set(bodies.flatMap((body) => Object.keys(body)))]

const writeFile = (targetTable: TargetTable, inputs: readonly RecordInput[], isCsv: boolean, isUpsert: boolean) => {
  const bodies = inputs.map((input) => bodyOf(targetTable, input, isUpsert))
  const names = namesIn(bodies)
  const isUneven = (inputs[0]?.seed ?? 0) % 10 === 9
  const common = isUpsert ? names : names.filter((name) => targetTable.table.key.includes(name))
  const needed = isCsv ? names : common
  const completed = bodies.map((body, index) =>
    isUneven && !isCsv ? body : { ...body, ...complete(targetTable, body, needed, inputs[index]?.seed ?? 0) }
  )
  return isCsv ? toCsv(names.length > 0 ? names : ['nothing'], completed) : toNdjson(completed)
}

/** An upsert can exchange unique values of two records, which depends on the order of SQLite. */
const canUpsert = ({ table, stored }: TargetTable) =>
  (stored?.indexes ?? []).every(({ isUnique, fields }) => !isUnique || fields.join() === table.key.join())

const importRecords = command(
  8,
  fc.record({
    ...target,
    inputs: fc.array(recordInput, { maxLength: 5 }),
    isCsv: fc.boolean(),
    isUpsert: fc.boolean(),
    isDryRun: fc.nat(4).map((n) => n === 4)
  }),
  (harness, { inputs, isCsv, isUpsert: wantsUpsert, isDryRun, ...target }) => {
    const { model } = harness
    const targetTable = findTarget(model, target)
    const isUpsert = wantsUpsert && (!targetTable || canUpsert(targetTable))
    const { text, type, ...file } = targetTable ? writeFile(targetTable, inputs, isCsv, isUpsert) : toNdjson([])
    const query = `?mode=${isUpsert ? 'upsert' : 'insert'}&dryRun=${isDryRun}`
    const headers = { 'content-type': type }
    const request = { need: 'create', method: 'POST', route: 'import', query, payload: text, headers } as const
    const name = `import of ${isCsv ? 'CSV' : 'NDJSON'}, ${isUpsert ? 'upsert' : 'insert'}${isDryRun ? ', dry run' : ''}`
    const rule: Rule = counted(name, (table, viewer, _, { response }) =>
      importFile(model, table, viewer, { ...file, isUpsert, isDryRun }, response)
    )
    return sendAs(harness, target, { ...request, ...(isUpsert && { alsoNeeds: 'update' as const }) }, rule)
  }
)

export const importCommands = { importRecords }
