import t from 'tap'
import { createCsvReader } from '../../../../services/engine/staging/csv-records.ts'
import { UnreadableFile } from '../../../../services/engine/staging/import-errors.ts'
import type { StagingThreadOptions } from '../../../../services/engine/staging/protocol.ts'
import { createStagedRecords } from '../../../../services/engine/staging/staged-records.ts'
import { openStagedTable } from '../../../../services/engine/staging/staged-table.ts'
import { toColumn } from '../../../../services/tables/changes/field-rules.ts'

/** Stages a CSV file in memory, in this thread. */
const stage = async (text: string, options: Partial<StagingThreadOptions>) => {
  const all: StagingThreadOptions = {
    servedFile: '',
    stagingFile: ':memory:',
    table: 'prices',
    declarations: ['CREATE TABLE prices (price REAL)'],
    rowid: 'rowid',
    fields: [
      { column: toColumn({ name: 'price', jsonType: 'number' }), mayBeNull: true, refusal: null, isComputed: false }
    ],
    required: [],
    names: {},
    fallbacks: [],
    format: { type: 'csv', delimiter: ',', unescapesFormulas: false },
    keepsDigits: false,
    skip: 0,
    hasFixedFields: false,
    ...options
  }
  const table = openStagedTable(all)
  const records = createStagedRecords(all, table)
  const reader = createCsvReader(',', records.createCellsReader().read)
  try {
    await reader.write(Buffer.from(text))
    await reader.end()
  } catch (error) {
    // The errors of the header have been added.
    if (!(error instanceof UnreadableFile)) throw error
  }
  records.flush()
  const errors = records.errors().first.map(({ line, column, code }) => [line, column, code])
  return { table, errors, finished: table.finish() }
}

t.test('a number that would lose a digit is an error where all digits are kept', async (t) => {
  const text = '\nprice\n0.5\n0.12345678901234567891\n'
  const { errors } = await stage(text, { keepsDigits: true })
  t.strictSame(errors, [[4, 'price', 'digits']], 'the header follows an empty line')
  t.strictSame((await stage(text, {})).errors, [])
})

t.test('the first records are skipped', async (t) => {
  const { table, finished } = await stage('price\n1\n2\n3\n', { skip: 2 })
  t.match(finished, { rows: 1, skipped: 2 })
  t.strictSame(table.step({ after: null, rows: 10, maxBytes: null }), { last: 3n, rows: 1 })
})

t.test('a name of the map that the header does not have is an error', async (t) => {
  t.strictSame((await stage('price\n1\n', { names: { Price: null } })).errors, [[1, 'Price', 'unknown']])
  t.strictSame((await stage('Price\n1\n', { names: { Price: 'price' } })).errors, [])
})
