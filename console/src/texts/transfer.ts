const number = new Intl.NumberFormat('en')
const records = (count: number) => `${number.format(count)} ${count === 1 ? 'record' : 'records'}`

/** Texts of export, import and paste. */
export const texts = {
  ignore: 'Ignore',
  exportTitle: (table: string) => `Export ${table}`,
  format: 'Format',
  csv: 'CSV',
  ndjson: 'NDJSON',
  formats: {
    csv: 'For spreadsheets and most programs. NULL is an empty cell, empty text is "".',
    ndjson: 'One JSON object in each line. Keeps the types of all values.'
  },
  onlyShown: 'Only the matching records',
  onlyShownHint: 'All that match the present search and filter, in the present order.',
  guard: 'Guard against formulas',
  guardHint:
    "A text that a spreadsheet could run as a formula gets a leading '. An import with “Remove the guard” restores it.",
  bom: 'Byte order mark',
  bomHint: 'Old versions of Excel need it to read the file as UTF-8.',
  download: 'Download',
  importTitle: (table: string) => `Import into ${table}`,
  choose: 'Choose a CSV, NDJSON or JSON file, or drop it here',
  notRead: (name: string) => `${name} could not be read`,
  notRecords:
    'It is JSON, but has no records. Choose a CSV file, a JSON array of objects, or an NDJSON file, which has one JSON object in each line.',
  tooEarly: 'The file is empty.',
  delimiter: 'Cells are separated by',
  delimiters: { ',': 'comma', ';': 'semicolon', '|': 'vertical bar', tab: 'tab' },
  columns: 'Columns',
  column: (name: string) => `Field of the column ${name}`,
  inFile: 'In the file',
  inTable: 'Field',
  example: 'First value',
  leftOut: (count: number) =>
    count === 1
      ? 'One column of the file is not imported:'
      : `${number.format(count)} columns of the file are not imported:`,
  leftOutUnknown: (table: string) => `${table} has no field with this name or label. Choose a field to import it.`,
  leftOutByChoice: 'you chose to ignore it.',
  mode: 'Records whose key exists',
  insert: 'are an error',
  upsert: 'are changed',
  on: 'Key of a record',
  primaryKey: (names: string) => `${names} (primary key)`,
  unguard: 'Remove the guard against formulas',
  unguardHint: "Removes the ' that an export with the guard has added.",
  check: 'Check the file',
  sending: (part: number) => `${Math.round(part * 100)} % sent`,
  working: 'The service reads the file …',
  storing: 'The service stores the records. If you close this window, a notice shows the result.',
  importFailed: (table: string) => `The import into ${table} failed`,
  wouldDo: (created: number, updated: number) =>
    `The file has no errors. ${records(created)} will be created, ${number.format(updated)} changed.`,
  import: (rows: number) => `Import ${records(rows)}`,
  imported: (created: number, updated: number, table: string) =>
    `${records(created)} created and ${number.format(updated)} changed in ${table}`,
  pasteTitle: (table: string) => `Paste into ${table}`,
  pasteHint: (rows: number, table: string) => `${records(rows)} will be created in ${table}, all of them or none.`,
  pasteSteps: (rows: number, table: string) =>
    `${records(rows)} will be created in ${table}, in steps of 1,000. If a step fails, the steps before it stay.`,
  header: 'The first row has the names of the fields',
  wrongCells: (count: number) =>
    count === 1
      ? '1 cell is wrong. Correct it in the spreadsheet, and paste again.'
      : `${number.format(count)} cells are wrong. Correct them in the spreadsheet, and paste again.`,
  row: 'Row',
  more: (count: number) => `and ${number.format(count)} more`,
  noField: 'Choose a field for at least one column.',
  repeated: (name: string) =>
    `The file has two columns with the name ${name}. Rename one of them: a column is found by its name.`,
  twice: (name: string) => `${name} is chosen for two columns.`,
  paste: (rows: number) => `Create ${records(rows)}`,
  pasted: (rows: number, table: string) => `${records(rows)} created in ${table}`,
  pastedSoFar: (stored: number, rows: number) =>
    `${records(stored)} of ${number.format(rows)} are stored. Only the others are sent again.`,
  inRow: (row: number, message: string) => `Row ${number.format(row)}: ${message}`
}
