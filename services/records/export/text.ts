import { invalid } from '../../model/errors.ts'
import type { RecordLines } from '../../sql/exports.ts'
import { csvHeader } from '../../sql/record-csv.ts'
import { bindRecord, csvText } from '../../sql/record-text.ts'
import type { BoundProjection } from '../read/selection.ts'

/** How a client requests the text of an export. */
export interface TextRequest {
  /** The default is `csv`. */
  readonly format?: 'csv' | 'ndjson'
  /** Begins the file with a byte order mark. */
  readonly bom?: boolean
  readonly escape?: 'none' | 'formulas'
}

/** The text of an export: a header, then the lines of the records. */
interface ExportText extends RecordLines {
  readonly header: string
}

const BYTE_ORDER_MARK = '\ufeff'
const CSV_OPTIONS = ['bom', 'escape'] as const

const csvOf = ({ projection: { columns, shape } }: BoundProjection, request: TextRequest): ExportText => {
  const escapesFormulas = request.escape === 'formulas'
  const header = `${csvHeader(columns, escapesFormulas)}\r\n`
  return {
    header: request.bom ? BYTE_ORDER_MARK + header : header,
    record: bindRecord(csvText(shape, escapesFormulas), []),
    lineEnd: '\r\n'
  }
}

const csvOnly = (option: string) => ({
  path: `/${option}`,
  code: 'conflict',
  message: `'${option}' is only for 'format=csv'. Send the request without it.`
})

/** SQLite escapes line ends in JSON texts, so that each record is one line. */
const ndjsonOf = ({ record }: BoundProjection, request: TextRequest): ExportText => {
  const options = CSV_OPTIONS.filter((option) => request[option] !== undefined)
  if (options.length > 0) throw invalid(options.map(csvOnly))
  return { header: '', record, lineEnd: '\n' }
}

/** Returns the text of an export in the requested format. @throws VALIDATION_FAILED for an option of another format */
export const exportText = (projection: BoundProjection, request: TextRequest): ExportText =>
  request.format === 'ndjson' ? ndjsonOf(projection, request) : csvOf(projection, request)
