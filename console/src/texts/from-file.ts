const number = new Intl.NumberFormat('en')
const records = (count: number) => (count === 1 ? '1 record' : `${number.format(count)} records`)
const fields = (count: number) => (count === 1 ? '1 field' : `${count} fields`)

const size = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const KIB = 1024

export const texts = {
  title: 'New table from a file',
  newTable: 'New table',
  importTables: 'Import existing tables',
  file: 'File',
  choose: 'Choose a file',
  orDrop: 'or drop one here: CSV, or NDJSON (one JSON object for each line).',
  removeFile: 'Remove the file',
  size: (bytes: number) =>
    bytes < KIB * KIB ? `${size.format(bytes / KIB)} KiB` : `${size.format(bytes / KIB / KIB)} MiB`,
  paste: 'Or paste the rows',
  pasteHint: 'The first line of CSV has the names of the fields. Cells from a spreadsheet work, too.',
  name: 'Name of the table',
  label: 'Label',
  format: 'Format',
  formats: { csv: 'CSV', ndjson: 'NDJSON' },
  delimiter: 'Cells are separated by',
  delimiters: { ',': 'comma ,', ';': 'semicolon ;', '|': 'bar |', tab: 'tab' },
  preview: 'Preview',
  create: (name: string, count: number) => `Create ${name} with ${records(count)}`,
  previewOf: (count: number, width: number) => `${records(count)}, ${fields(width)}`,
  typeOf: (type: string, isKey: boolean) => (isKey ? `${type}, key` : type),
  firstRows: (count: number) => `The first ${count} are shown.`,
  progress: 'Progress of the upload',
  line: 'Line',
  column: 'Column',
  problem: 'What is wrong',
  moreErrors: (count: number) => `${count} more errors are not shown.`
}
