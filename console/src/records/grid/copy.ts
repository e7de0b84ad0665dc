import type { RecordData } from '../queries.ts'

const textOf = (value: unknown) => {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A cell of a spreadsheet: quoted if it would end the cell. */
const toCell = (value: unknown) => {
  const text = textOf(value)
  return /["\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Records as lines of cells, which spreadsheets paste. */
export const toLines = (names: readonly string[], records: Iterable<RecordData>) =>
  [...records].map((record) => names.map((name) => toCell(record[name])).join('\t')).join('\n')

export const toText = textOf
