import { texts } from '../texts/backups.ts'
import { Progress } from '../ui/progress.tsx'
import type { RunningBackup } from './queries.ts'

interface RunningProps {
  /** undefined: the list does not show the backup yet. */
  readonly running: RunningBackup | undefined
}

/** The progress of a backup that is being made, or of a restore. */
export const Running = ({ running }: RunningProps) => {
  if (!running || running.totalBytes === 0) return <Progress>{texts.starting}</Progress>
  const { kind, copiedBytes, totalBytes } = running
  return <Progress part={copiedBytes / totalBytes}>{texts.running(kind, copiedBytes, totalBytes)}</Progress>
}
