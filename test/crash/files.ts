import type { State } from './ledger.ts'

/** The table of large imports, and its path for an administrator. */
export const IMPORTED = 'imported'
export const IMPORT_PATH = '/admin/tables/2/import'

/** An import takes several steps: the first one has 5,000. */
export const ROWS_OF_FILE = 10_000

/** Each file has its own range of keys. */
export const keyOfFile = (file: number) => `file${file}`
export const numberOfFile = (key: string) => Number(key.slice('file'.length))
export const firstId = (file: number) => file * ROWS_OF_FILE

/** The stored records of a file that have the same value. */
export interface FilePart {
  readonly file: number
  readonly value: number
  readonly rows: number
  readonly first: number
  readonly last: number
}

/** Selects all parts. */
export const SELECT_PARTS = `SELECT file, value, count(*) AS rows, min(id) AS first, max(id) AS last
  FROM ${IMPORTED} GROUP BY file, value`

/** An aggregate with all parts. */
export const PARTS = {
  groupBy: ['file', 'value'],
  compute: { rows: { count: true }, first: { min: 'id' }, last: { max: 'id' } }
}

/** An aggregate with the parts of one file. */
export const partsOfFile = (key: string) => ({ ...PARTS, filter: { where: { file: { eq: numberOfFile(key) } } } })

const isRange = ({ rows, first, last }: FilePart) => last - first + 1 === rows

/** Whether the parts are what an import of the newest value has stored: the first records in the order of the key. */
const isPrefix = (newest: FilePart, old: FilePart | undefined) => {
  const start = firstId(newest.file)
  const end = start + ROWS_OF_FILE - 1
  if (![newest, ...(old ? [old] : [])].every(isRange) || newest.first !== start) return false
  if (!old) return newest.value === 1 ? newest.last <= end : newest.last === end
  return old.value === newest.value - 1 && old.first === newest.last + 1 && old.last === end
}

/**
 * Returns the state of a file from its stored parts. The imports of a file have the values 1, 2, 3 …, and each counts the
 * records that it has stored. So an import is an increment of the counter by ROWS_OF_FILE. The counter is NaN, which no
 * import leads to, if other records have the newest value than the first ones.
 */
export const stateOfFile = (parts: readonly FilePart[]): State => {
  const [newest, old, ...others] = parts.toSorted((a, b) => b.value - a.value) as [FilePart, ...FilePart[]]
  const isValid = others.length === 0 && isPrefix(newest, old)
  return { value: 1, counter: isValid ? (newest.value - 1) * ROWS_OF_FILE + newest.rows : Number.NaN }
}

/** Returns the states of all files. */
export const statesOfFiles = (parts: readonly FilePart[]) =>
  [...new Set(parts.map(({ file }) => file))].map((file): [string, State] => [
    keyOfFile(file),
    stateOfFile(parts.filter((part) => part.file === file))
  ])

/** Returns the number of files of which an import has stored only the first records. */
export const countPartial = (states: ReadonlyMap<string, State>) =>
  [...states].filter(([key, { counter }]) => key.startsWith('file') && counter % ROWS_OF_FILE !== 0).length
