import { type Delimiter, guessDelimiter } from '../../api/delimiter.ts'
import type { components } from '../../api/schema.d.ts'
import { type FileFormat, upload } from '../../api/upload.ts'

export type FromFile = components['schemas']['AdminTableFromFile']

export const FORMATS: readonly FileFormat[] = ['csv', 'ndjson', 'json']

/** What a user has entered for a table from a file. */
export interface Source {
  /** A chosen file; else the pasted `text`. */
  readonly file: File | null
  readonly text: string
  readonly name: string
  readonly label: string
  readonly format: FileFormat
  readonly delimiter: Delimiter
}

export const EMPTY: Source = { file: null, text: '', name: '', label: '', format: 'csv', delimiter: ',' }

/** The characters that are read to guess the format. */
const SAMPLE = 4096

/** Guesses the format and the delimiter from the beginning of a file. */
export const guess = (sample: string): Pick<Source, 'format' | 'delimiter'> => {
  const text = sample.replace(/^\uFEFF/, '').trimStart()
  if (text.startsWith('{')) return { format: 'ndjson', delimiter: ',' }
  if (text.startsWith('[')) return { format: 'json', delimiter: ',' }
  return { format: 'csv', delimiter: guessDelimiter(text) }
}

/** Returns a name for the table from that of the file. */
const nameOf = (file: File) =>
  file.name
    .replace(/\.[^.]*$/, '')
    .replaceAll(/\W+/g, '_')
    .replace(/^[^A-Za-z]+/, '')
    .slice(0, 63)

/** Whether the user has entered a name: it is not that of an earlier file. */
const isNamed = ({ name, file }: Source) => name !== '' && (file === null || name !== nameOf(file))

export const sourceOfFile = async (file: File, before: Source): Promise<Source> => ({
  ...before,
  file,
  text: '',
  name: isNamed(before) ? before.name : nameOf(file),
  ...guess(await file.slice(0, SAMPLE).text())
})

export const hasContent = ({ file, text }: Source) => file !== null || text.trim() !== ''

interface Options {
  readonly dryRun: boolean
  readonly onProgress: (part: number) => void
}

/** Sends the file: for a preview, or to create the table. @throws ServiceError */
export const sendFile = async (source: Source, { dryRun, onProgress }: Options) => {
  const { file, text, name, label, format, delimiter } = source
  return upload({
    method: 'POST',
    path: '/admin/tables/from-file',
    query: { name, label, dryRun, ...(format === 'csv' && { delimiter }) },
    body: file ?? new Blob([text]),
    format,
    onProgress
  })
}
