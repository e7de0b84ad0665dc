import t from 'tap'
import { scaled } from '../scale.ts'
import { noInterposer } from './interposer.ts'
import { DATABASE, walSequence } from './oracle.ts'
import { createFixture, createSimulatedDisk, cutOnce } from './power-cut.ts'

const CYCLES = scaled(300)
/** Maximum number of file changes before a cut. A start makes about 30; the WAL is checkpointed after about 500. */
const MAX_CHANGES = 2000

const randomChange = () => 1 + Math.floor(Math.random() * MAX_CHANGES)

t.test('after a power cut, all acknowledged writes are stored', { skip: noInterposer }, async (t) => {
  const disk = createSimulatedDisk(t)
  const { files, ledger, access } = await createFixture(t, disk)
  let stored = files
  let checkpoints = 0
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    // A short run may have no other cycle that checkpoints the WAL.
    const after = cycle === 0 ? MAX_CHANGES : randomChange()
    const { files, faults } = await cutOnce(disk, { files: stored, ledger, access }, after)
    t.strictSame(faults, [], `cycle ${cycle}, cut at change ${after}`)
    stored = files
    checkpoints = Math.max(checkpoints, walSequence(files.get(`${DATABASE}-wal`)))
  }
  t.comment(`${CYCLES} power cuts: ${JSON.stringify({ ...ledger.counts, checkpoints })}`)
  t.ok(ledger.counts.unknown > 0, 'requests were in flight when the power was cut')
  t.ok(checkpoints > 0, 'the WAL was checkpointed in some cycle')
})
