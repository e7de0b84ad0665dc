import { records } from './counts.ts'

const fields = (count: number) => (count === 1 ? '1 field' : `${count} fields`)

export const texts = {
  title: 'New table from a file',
  newTable: 'New table',
  importTables: 'Import existing tables',
  file: 'File',
  choose: 'Choose a file',
  orDrop: 'or drop one here: CSV, a JSON array of objects, or NDJSON (one JSON object for each line).',
  removeFile: 'Remove the file',
  paste: 'Or paste the rows',
  pasteHint: 'The first line of CSV has the names of the fields. Cells from a spreadsheet work, too.',
  name: 'Name of the table',
  label: 'Label',
  format: 'Format',
  formats: { csv: 'CSV', ndjson: 'NDJSON', json: 'JSON array' },
  delimiter: 'Cells are separated by',
  delimiters: { ',': 'comma ,', ';': 'semicolon ;', '|': 'bar |', tab: 'tab' },
  unreadable: (file: string) => `${file} cannot be read.`,
  null: 'NULL',
  preview: 'Preview',
  create: (name: string, count: number) => `Create ${name} with ${records(count)}`,
  previewOf: (count: number, width: number) => `${records(count)}, ${fields(width)}`,
  typeOf: (type: string, isKey: boolean) => (isKey ? `${type}, key` : type),
  firstRows: (count: number) => `The first ${count} are shown.`,
  progress: 'Progress of the upload'
}
