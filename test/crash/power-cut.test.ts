import t from 'tap'
import { scaled } from '../scale.ts'
import { noInterposer } from './interposer.ts'
import { DATABASE, walSequence } from './oracle.ts'
import { createForgetfulDisk, createWorld, cutOnce } from './power-cut.ts'

const CYCLES = scaled(300)
/** Changes of files before a cut, at most: a start makes some 30, and the WAL is folded after about 500. */
const MOST_CHANGES = 2000

const anyChange = () => 1 + Math.floor(Math.random() * MOST_CHANGES)

t.test('a power cut loses nothing that was acknowledged', { skip: noInterposer }, async (t) => {
  const disk = createForgetfulDisk(t)
  const { files, ledger, access } = await createWorld(t, disk)
  let left = files
  let folded = 0
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const after = anyChange()
    const { files, faults } = await cutOnce(disk, { files: left, ledger, access }, after)
    t.strictSame(faults, [], `cycle ${cycle}, cut at change ${after}`)
    left = files
    folded = Math.max(folded, walSequence(files.get(`${DATABASE}-wal`)))
  }
  t.comment(`${CYCLES} power cuts: ${JSON.stringify({ ...ledger.counts, folded })}`)
  t.ok(ledger.counts.unknown > 0, 'calls were under way when the power was cut')
  t.ok(folded > 0, 'the WAL was folded into the database on the way')
})
