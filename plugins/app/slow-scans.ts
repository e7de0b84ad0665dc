import type { FastifyBaseLogger } from 'fastify'
import type { RecordedScan } from '../../schemas/status.ts'
import type { Clock } from '../../services/model/clock.ts'
import type { OnSlowScan } from '../../services/records/read/scans.ts'

const MAX_SCANS = 20

/** Logs slow scans, and keeps the latest ones, the latest first. */
export const createSlowScans = (log: FastifyBaseLogger, clock: Clock) => {
  const latest: RecordedScan[] = []
  const record: OnSlowScan = (scan) => {
    log.warn({ scan }, 'A scan took longer than a second.')
    latest.unshift({ ...scan, at: clock(), helpfulIndex: [...(scan.helpfulIndex ?? [])] })
    latest.splice(MAX_SCANS)
  }
  return { record, latest: latest as readonly RecordedScan[] }
}
