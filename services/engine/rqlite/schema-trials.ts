import type { Row } from '../../model/sql-value.ts'
import { selectAllDeclarations } from '../../sql/alter.ts'
import { selectDeclared, toDeclared } from '../../sql/declared.ts'
import type { Statement } from '../../sql/statement.ts'
import type { ViewProcessOptions } from '../loop/view-process.ts'
import { createViewScans } from '../loop/view-scans.ts'
import type { TrialSource } from '../reader/trial.ts'

/** MiB. A copy of a schema has no rows. */
const CACHE_SIZE = 2

interface SchemaTrialsOptions extends Partial<Pick<ViewProcessOptions, 'limit' | 'idle'>> {
  readonly client: {
    /** Runs statements that only read, in one snapshot of the current state. Rejects with a DomainError. */
    query(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]>
  }
}

/**
 * Tries changes of the structure, and describes SQL views, on a copy of the schema of the cluster. The copy is in a process
 * that can be killed. The statements of a trial that depend on rows, such as a check of stored values, fail when the unit
 * runs.
 */
export const createSchemaTrials = ({ client, ...options }: SchemaTrialsOptions) => {
  const readSource = async (): Promise<TrialSource> => {
    const [all, ...rows] = (await client.query([selectAllDeclarations, selectDeclared])).flat()
    return { declarations: String(all?.text), rows: rows.map(toDeclared) }
  }

  // Without a file: the processes get no other statements.
  const scans = createViewScans({ file: '', cacheSize: CACHE_SIZE, ...options, readSource })
  const { tryChange, describe, close, countProcesses } = scans
  return { tryChange, describe, close, countProcesses }
}
