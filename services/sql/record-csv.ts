import { headerCell } from '../model/kinds/csv-cells.ts'
import { kindOf } from '../model/kinds/kind-of.ts'
import type { Column } from '../model/table.ts'
import { columnRef } from './identifiers.ts'
import type { RecordShape } from './record-shape.ts'

const CELLS_PER_CALL = 500

const joinCells = (cells: readonly string[]): string => {
  // A record of a view without a key may show nothing.
  if (cells.length === 0) return "''"
  if (cells.length <= CELLS_PER_CALL) return `concat_ws(',', ${cells.join(', ')})`
  return joinCells([joinCells(cells.slice(0, CELLS_PER_CALL)), ...cells.slice(CELLS_PER_CALL)])
}

/** Returns an expression for a record as one line of CSV (RFC 4180) without its line end. */
export const recordCsv = ({ tableName, isStrict, columns, dialect }: RecordShape, escapesFormulas: boolean) => {
  const context = { isStrict, escapesFormulas, base64: dialect.base64 }
  const cellOf = (column: Column) => kindOf(column).csv(columnRef(tableName, column.name), context)
  return joinCells(columns.map((column) => `coalesce(${cellOf(column)}, '')`))
}

/** Returns the header line without its line end, under the same rules as the cells. */
export const csvHeader = (columns: readonly Column[], escapesFormulas: boolean) =>
  columns.map(({ name }) => headerCell(name, escapesFormulas)).join(',')
