import t from 'tap'
import {
  type Outcome,
  packOutcomes,
  packUnits,
  type UnitWithOptions,
  unpackOutcomes,
  unpackUnits
} from '../../../../services/engine/shared/message.ts'

const wide = 2n ** 63n - 1n
const bytes = new Uint8Array([0, 255])
const update = { sql: 'UPDATE t SET a = ? WHERE id = ?', params: ['x', wide], expect: 1 }

t.test('packed units are unpacked unchanged, and each SQL text is sent once', async (t) => {
  const insert = { sql: 'INSERT INTO t VALUES (?, ?, ?, ?, ?)', params: [null, '', 0.5, wide, bytes], expect: 0 }
  const options = undefined
  const units: readonly UnitWithOptions[] = [
    { unit: [], options },
    { unit: [{ sql: 'SELECT 1', params: [] }, update], options },
    { unit: [update, insert], options: { foreignKeys: false } },
    { unit: [update, update], options: { maxMs: 100 } },
    { unit: [], options }
  ]
  const list = structuredClone(packUnits(units))
  t.strictSame(unpackUnits(list), units)
  t.equal(list.texts.length, 3)
  t.strictSame(unpackUnits(packUnits([])), [])
})

t.test('packed outcomes and failures are unpacked unchanged, and each column name is sent once', async (t) => {
  const outcomes: readonly Outcome[] = [
    [],
    [
      { changes: 1, rows: [] },
      { changes: 1, rows: [{ record: '{"id":1}' }] }
    ],
    { error: { code: 'SQLITE_BUSY', message: 'database is locked' } },
    { error: { code: 'UNEXPECTED_CHANGES', message: '', statement: 0 } },
    [
      {
        changes: 2,
        rows: [
          { record: '', id: wide, nothing: null },
          { record: '-1', id: -1, nothing: bytes }
        ]
      }
    ]
  ]
  const list = structuredClone(packOutcomes(outcomes))
  t.strictSame(unpackOutcomes(list), outcomes)
  t.strictSame(list.texts, ['record', 'id', 'nothing'])
  t.strictSame(unpackOutcomes(packOutcomes([])), [])
})
