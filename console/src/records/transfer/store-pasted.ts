import { api, dataOf } from '../../api/client.ts'
import { ServiceError } from '../../api/errors.ts'
import type { Submit } from '../../api/submission.ts'
import type { Table } from '../../tables/queries.ts'
import { texts } from '../../texts/transfer.ts'
import type { PastedRow } from './clipboard.ts'

/** Operations of one batch. */
export const MAX_OPERATIONS = 1000

const OPERATION = /^\/operations\/(\d+)/

/** Names the row instead of the operation of the batch. */
const inRow = (error: unknown, rows: readonly PastedRow[]) => {
  if (!(error instanceof ServiceError)) return error
  const [first] = error.details
  const row = rows[Number(OPERATION.exec(first?.path ?? '')?.[1])]
  if (!row) return error
  const reason = error.details.find(({ path }) => path.includes('/values/'))?.message ?? first?.message ?? error.message
  return new ServiceError(error.status, { code: 'VALIDATION_FAILED', message: texts.inRow(row.number, reason) })
}

const storeBatch = async (table: Table, rows: readonly PastedRow[], submit: Submit) => {
  const operations = rows.map(({ values }) => ({ op: 'create', table: table.name, values: { ...values } }))
  try {
    await submit(operations, (key) =>
      dataOf(api.POST('/admin/batch', { params: { header: { 'Idempotency-Key': key } }, body: { operations } }))
    )
  } catch (error) {
    throw inRow(error, rows)
  }
}

/**
 * Creates the records: up to 1,000 all together or not at all, more in several batches. `onStored` gets the number of rows
 * that are stored so far: after a failure, only the others are sent again.
 */
export const storePasted = async (
  table: Table,
  rows: readonly PastedRow[],
  { submit, onStored }: { readonly submit: Submit; readonly onStored: (count: number) => void }
) => {
  for (let start = 0; start < rows.length; start += MAX_OPERATIONS) {
    await storeBatch(table, rows.slice(start, start + MAX_OPERATIONS), submit)
    onStored(Math.min(start + MAX_OPERATIONS, rows.length))
  }
}
