import t from 'tap'
import type { StagedCheck, StagingRequest } from '../../../../services/engine/staging/protocol.ts'
import type { Structure } from '../../../../services/model/table.ts'
import { describeTable, toStructure } from '../../../../services/sql/introspection.ts'
import { selectTaken } from '../../../../services/sql/staged-checks.ts'
import { toUnit } from '../../../../services/sql/unit-values.ts'
import { toColumn } from '../../../../services/tables/changes/field-rules.ts'
import { databaseFile, prepareFile, rejection, sql, startEngine } from '../engine.ts'
import { startClusterParts } from './stand-in.ts'

const REQUEST: StagingRequest = {
  table: 't',
  declarations: ['CREATE TABLE t (v)'],
  rowid: 'rowid',
  fields: [{ column: toColumn({ name: 'v', jsonType: 'string' }), mayBeNull: true, refusal: null, isComputed: false }],
  required: [],
  names: {},
  fallbacks: [],
  format: { type: 'csv', delimiter: ',', unescapesFormulas: false },
  keepsDigits: false,
  skip: 0,
  hasFixedFields: false
}

t.test('a failed comparison is an error, and the file is deleted at the close', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, 'CREATE TABLE t (v)')
  const { stagings, files, sent } = startClusterParts(t, file)
  const check: StagedCheck = {
    columns: [],
    inFile: 'TRUE',
    stored: sql('nothing'),
    column: null,
    code: '',
    message: ''
  }
  const empty = stagings.stage(REQUEST)
  await empty.end()
  t.strictSame(await empty.check([check]), { total: 0, first: [] }, 'a file without records')
  await empty.close()
  const staging = stagings.stage(REQUEST)
  await staging.write(Buffer.from(`v\n${'x\n'.repeat(6000)}`))
  await staging.end()
  t.strictSame(await staging.check([{ ...check, inFile: 'FALSE' }]), { total: 0, first: [] })
  t.match(await rejection(staging.check([{ ...check, stored: null, inFile: 'nothing' }])), { message: /nothing/ })
  t.strictSame(sent, [], 'nothing was compared')
  t.match(await rejection(staging.check([check])), { message: /nothing/ })
  t.strictSame(stagings.counts(), { running: 1, started: 2 })
  t.equal(files().length, 1)
  await staging.close()
  t.strictSame(files(), [])
  const open = stagings.stage(REQUEST)
  await stagings.close()
  t.match(await rejection(open.end()), { code: 'OVERLOADED' })
  await open.close()
  t.strictSame(stagings.counts().running, 0)
})

t.test('records of several ranges are compared, and stored in units with their values', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, "CREATE TABLE t (v); INSERT INTO t VALUES ('1'), ('5999')")
  const db = await startEngine(t, file)
  const { stagings } = startClusterParts(t, file)
  const [described] = await db.read(describeTable('t'))
  const structure = toStructure(described ?? {}) as Structure
  const staging = stagings.stage(REQUEST)
  await staging.write(Buffer.from(`v\n${Array.from({ length: 6000 }, (_, index) => `${index}\n`).join('')}`))
  await staging.end()
  const taken = selectTaken('t', { fields: [{ name: 'v', collation: 'BINARY' }] }, null)
  t.strictSame(await staging.check([{ ...taken, column: 'v', code: 'unique', message: 'Taken.' }]), {
    total: 2,
    first: [3, 6001].map((line) => ({ line, column: 'v', code: 'unique', message: 'Taken.' }))
  })
  const { unitOf } = await staging.store({
    table: 't',
    structure,
    rows: null,
    inserted: ['v'],
    updated: [],
    on: null,
    otherKeys: [],
    hasConflictTriggers: false,
    setsUpdatedAt: false,
    guard: ''
  })
  const progress = { ...sql('SELECT 1'), expect: 1 }
  const first = await staging.step({ after: null, rows: 4000, maxBytes: null })
  const second = await staging.step({ after: first.last, rows: 4000, maxBytes: null })
  for (const range of [
    { after: null, ...first },
    { after: first.last, ...second }
  ]) {
    const { unit } = await unitOf({ ...range, now: 0 }, progress)
    t.match(await db.write(toUnit(unit)), [{ changes: range.rows }, { changes: 1 }])
  }
  t.match(await db.read(sql("SELECT count(*) AS n, max(rowid) AS last, sum(typeof(v) = 'text') AS texts FROM t")), [
    { n: 6002, last: 6002, texts: 6002 }
  ])
  await staging.close()
})
