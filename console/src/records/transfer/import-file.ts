import type { components } from '../../api/schema.d.ts'
import { upload } from '../../api/upload.ts'
import type { Table } from '../../tables/queries.ts'
import type { Mapping } from './mapping.ts'
import type { Column, Source } from './source.ts'

export type ImportResult = components['schemas']['TableRecordImportResult']

/** How a file becomes records. */
export interface ImportPlan {
  readonly source: Source
  readonly columns: readonly Column[]
  readonly mapping: Mapping
  readonly isUpsert: boolean
  /** The fields that identify a record, separated by commas. Empty: the key. */
  readonly on: string
  readonly isGuarded: boolean
}

/** Returns the fields of the columns whose names differ from them. */
const mapOf = ({ columns, mapping }: ImportPlan) => {
  const differing = columns.flatMap(({ name }, index) => {
    const field = mapping[index] ?? null
    return field === name ? [] : [[name, field]]
  })
  return differing.length === 0 ? undefined : JSON.stringify(Object.fromEntries(differing))
}

const queryOf = (plan: ImportPlan) => {
  const { format, delimiter } = plan.source
  const isCsv = format === 'csv'
  return {
    mode: plan.isUpsert ? 'upsert' : 'insert',
    on: plan.isUpsert && plan.on !== '' ? plan.on : undefined,
    map: mapOf(plan),
    delimiter: isCsv ? delimiter : undefined,
    escape: isCsv && plan.isGuarded ? 'formulas' : undefined
  }
}

interface Running {
  readonly isDryRun: boolean
  readonly onProgress: (part: number) => void
  readonly signal: AbortSignal
}

/** Checks a file, or imports it. @throws ServiceError with the errors of the lines */
export const importFile = (table: Table, plan: ImportPlan, { isDryRun, ...running }: Running) =>
  upload({
    method: 'POST',
    path: `/admin/tables/${table.id}/import`,
    query: { ...queryOf(plan), dryRun: isDryRun },
    body: plan.source.file,
    format: plan.source.format,
    ...running
  })
