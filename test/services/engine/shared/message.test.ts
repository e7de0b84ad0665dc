import t from 'tap'
import { packOutcomes, packUnits, unpackOutcomes, unpackUnits } from '../../../../services/engine/shared/message.ts'
import type { Outcome } from '../../../../services/engine/writer/batch.ts'
import type { Unit } from '../../../../services/sql/statement.ts'

const wide = 2n ** 63n - 1n
const bytes = new Uint8Array([0, 255])
const update = { sql: 'UPDATE t SET a = ? WHERE id = ?', params: ['x', wide], expect: 1 }

t.test('units come out as they went in, and the text of a statement crosses once', async (t) => {
  const units: readonly Unit[] = [
    [],
    [{ sql: 'SELECT 1', params: [] }, update],
    [update, { sql: 'INSERT INTO t VALUES (?, ?, ?, ?, ?)', params: [null, '', 0.5, wide, bytes], expect: 0 }],
    []
  ]
  const parcel = structuredClone(packUnits(units))
  t.strictSame(unpackUnits(parcel), units)
  t.equal(parcel.texts.length, 3)
  t.strictSame(unpackUnits(packUnits([])), [])
})

t.test('outcomes come out as they went in, failures among them, and the name of a column crosses once', async (t) => {
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
  const parcel = structuredClone(packOutcomes(outcomes))
  t.strictSame(unpackOutcomes(parcel), outcomes)
  t.strictSame(parcel.texts, ['record', 'id', 'nothing'])
  t.strictSame(unpackOutcomes(packOutcomes([])), [])
})
