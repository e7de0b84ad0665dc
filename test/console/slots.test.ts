import t from 'tap'
import {
  isNearEdge,
  MAX_SLOTS,
  offsetAt,
  rebasedOffset,
  rowOfSlot,
  slotCount,
  slotOfRow
} from '../../console/src/records/grid/slots.ts'

const MILLION = 1_000_000

t.test('a small table has one slot for each row', async (t) => {
  t.equal(slotCount(250), 250)
  t.equal(rowOfSlot(249, 250), 249)
  t.equal(offsetAt(100, 250), 0)
  t.notOk(isNearEdge(0, 0, 250))
  t.notOk(isNearEdge(249, 0, 250))
})

t.test('the first and the last slot are the first and the last row of a large table', async (t) => {
  t.equal(slotCount(MILLION), MAX_SLOTS)
  t.equal(rowOfSlot(0, MILLION), 0)
  t.equal(rowOfSlot(MAX_SLOTS - 1, MILLION), MILLION - 1)
})

t.test('the middle of the scrollbar is the middle of the table', async (t) => {
  t.equal(rowOfSlot(MAX_SLOTS / 2, MILLION), MILLION / 2)
})

t.test('each slot of a jump has its row within the table', async (t) => {
  for (const rows of [MAX_SLOTS + 1, 12_345, MILLION, 2 ** 31]) {
    let before = -1
    for (let slot = 0; slot < MAX_SLOTS; slot += 1) {
      const row = rowOfSlot(slot, rows)
      if (row <= before || row >= rows) t.fail(`slot ${slot} of ${rows} rows has row ${row} after ${before}`)
      before = row
    }
  }
})

t.test('a row is shown at the slot that shows it', async (t) => {
  for (const row of [0, 499, 500, 31_337, 999_499, 999_500, 999_999]) {
    const slot = slotOfRow(row, MILLION)
    t.ok(Math.abs(rowOfSlot(slot, MILLION) - row) < MILLION / MAX_SLOTS, `row ${row}`)
  }
})

t.test('scrolling near an edge of the slots gets new slots, but not at the ends of the table', async (t) => {
  t.ok(isNearEdge(10, 5000, MILLION))
  t.notOk(isNearEdge(10, 0, MILLION))
  t.ok(isNearEdge(MAX_SLOTS - 10, 5000, MILLION))
  t.notOk(isNearEdge(MAX_SLOTS - 10, MILLION - MAX_SLOTS, MILLION))
})

t.test('new slots keep the visible row, away from the edges', async (t) => {
  const offset = rebasedOffset(10, 5000, MILLION)
  const slot = 5010 - offset
  t.ok(slot > 400 && slot < 700, `slot ${slot}`)
  t.notOk(isNearEdge(slot, offset, MILLION))
})
