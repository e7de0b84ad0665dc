import t from 'tap'
import { scaled } from '../scale.ts'
import { noInterposer } from './interposer.ts'
import { createFixture, createSimulatedDisk, cutOnce } from './power-cut.ts'

const CYCLES = scaled(50)
/** Enough for acknowledged writes in every cycle. */
const CHANGES = 1000

t.test(
  'the power cut test detects the losses of a disk that acknowledges fsync without doing it',
  { skip: noInterposer },
  async (t) => {
    const disk = createSimulatedDisk(t)
    let losses = 0
    const fixture = await createFixture(t, disk)
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const { faults } = await cutOnce(disk, { ...fixture, ledger: fixture.ledger.copy() }, CHANGES, true)
      if (faults.length > 0) losses += 1
      t.comment(`cycle ${cycle}: ${faults.length} faults, such as: ${faults[0]}`)
    }
    t.equal(losses, CYCLES)
  }
)
