import { isUtf8 } from 'node:buffer'
import type { CsvCell } from '../../model/kinds/kind.ts'
import { UnreadableFile } from './import-errors.ts'
import { createUnreadBytes } from './unread-bytes.ts'

const [LF, CR, SPACE, QUOTE, DELETE] = [0x0a, 0x0d, 0x20, 0x22, 0x7f]
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

const NO_BYTES = new Uint8Array()

/** Stands for a cell that was taken out of the text for fast-csv. */
export const TAKEN = '\u0001'
const TAKEN_BYTE = 1

/** Maximum number of bytes of one record: it is kept in memory until it is complete. */
const MAX_RECORD_BYTES = 8 * 2 ** 20

/** Maximum number of cells of one record. fast-csv needs about 100 bytes for each, and the memory of a thread is limited. */
const MAX_CELLS = 100_000

/** Whole records of a CSV file. */
export interface CsvPart {
  /** The records, with `TAKEN` for each cell that was taken out. Every record ends with a line feed. */
  readonly text: string
  /** The cells that were taken out, in their order. */
  readonly taken: readonly CsvCell[]
  /** The line where each record begins. */
  readonly lines: readonly number[]
  /** Why the record after them cannot be read. */
  readonly failure: unknown
}

const NOTHING: CsvPart = { text: '', taken: [], lines: [], failure: undefined }

const syntaxError = (line: number, message: string) =>
  new UnreadableFile({ line, column: null, code: 'syntax', message })

const tooLong = (line: number) =>
  syntaxError(line, `A record has more than ${MAX_RECORD_BYTES} bytes. Check the quotes of this line.`)

/** Most cells have one line, which is found faster without a regular expression. */
const countLines = (text: string) =>
  text.includes('\n') || text.includes('\r') ? text.split(/\r\n|\r|\n/).length - 1 : 0

const notUtf8 = (line: number) =>
  new UnreadableFile({
    line,
    column: null,
    code: 'encoding',
    message: 'The file is not UTF-8. Save it with the encoding UTF-8.'
  })

/** The whole records at the start of a chunk. */
class Records {
  readonly lines: number[] = []
  readonly taken: CsvCell[] = []
  /** The end of each record in the chunk, in its text, and in `taken`. */
  readonly ends: { readonly position: number; readonly length: number; readonly taken: number }[] = []

  /** Returns the first `count` records. */
  toPart(out: Buffer, count: number): Omit<CsvPart, 'failure'> {
    const end = this.ends[count - 1] ?? { length: 0, taken: 0 }
    return {
      text: out.toString('utf8', 0, end.length),
      taken: this.taken.slice(0, end.taken),
      lines: this.lines.slice(0, count)
    }
  }
}

const isCellEnd = (byte: number | undefined, delimiter: number) =>
  byte === undefined || byte === delimiter || byte === LF || byte === CR

/** Whether a character that begins with this byte may be white space. */
const mayBeSpace = (byte: number) => byte <= SPACE || byte >= DELETE

/** Returns the position of the closing quote, or -1 if it is not in the chunk yet. */
const findClosingQuote = (bytes: Buffer, start: number, isLast: boolean) => {
  let from = start
  for (;;) {
    const end = bytes.indexOf(QUOTE, from)
    if (end < 0 || (end + 1 === bytes.length && !isLast)) return -1
    if (bytes[end + 1] !== QUOTE) return end
    from = end + 2
  }
}

/** Returns the text of a cell, where each quote is doubled. Replaced in the text, millions of them would fill the heap. */
const unquote = (bytes: Buffer, start: number, end: number) => {
  const quoted = bytes.subarray(start, end)
  if (!quoted.includes(QUOTE)) return quoted.toString()
  const text = Buffer.allocUnsafe(quoted.length)
  let length = 0
  for (let index = 0; index < quoted.length; index += quoted[index] === QUOTE ? 2 : 1) {
    text[length] = quoted[index] as number
    length += 1
  }
  return text.toString('utf8', 0, length)
}

interface Chunk {
  readonly bytes: Buffer
  /** Memory for the text of the records, longer than `bytes`. */
  readonly out: Buffer
  /** The line of its first byte. */
  readonly firstLine: number
  readonly delimiter: number
  readonly isLast: boolean
}

/** Reads the whole records of a chunk. Returns where the incomplete record begins, and its line. */
const readRecords = ({ bytes, out, firstLine, delimiter, isLast }: Chunk) => {
  const records = new Records()
  let [position, length, line, recordLine] = [0, 0, firstLine, firstLine]
  let isCellStart = true
  let cells = 1

  /** @throws if an unquoted cell may not have this byte */
  const assertPlain = (byte: number) => {
    if (byte === QUOTE)
      throw syntaxError(recordLine, 'A cell that contains quotes must be in quotes, with each quote doubled.')
    if (byte <= TAKEN_BYTE) throw syntaxError(recordLine, 'A cell contains a control character.')
  }

  const put = (byte: number) => {
    out[length] = byte
    length += 1
  }

  const endRecord = () => {
    put(LF)
    records.lines.push(recordLine)
    records.ends.push({ position, length, taken: records.taken.length })
    recordLine = line
    isCellStart = true
    cells = 1
  }

  const endLine = (bytesOfEnd: number) => {
    position += bytesOfEnd
    line += 1
    endRecord()
  }

  const take = (cell: CsvCell, end: number) => {
    records.taken.push(cell)
    put(TAKEN_BYTE)
    position = end
    isCellStart = false
  }

  /** Returns false if the cell is incomplete. */
  const takeQuoted = () => {
    const end = findClosingQuote(bytes, position + 1, isLast)
    if (end < 0) return false
    if (!isCellEnd(bytes[end + 1], delimiter))
      throw syntaxError(recordLine, 'A closing quote must be followed by the delimiter or the end of the line.')
    const text = unquote(bytes, position + 1, end)
    line += countLines(text)
    take({ text, isQuoted: true }, end + 1)
    return true
  }

  /** Returns false if the cell is incomplete. */
  const takeUnquoted = () => {
    let end = position
    for (; !isCellEnd(bytes[end], delimiter); end++) assertPlain(bytes[end] as number)
    if (end === bytes.length && !isLast) return false
    take({ text: bytes.toString('utf8', position, end), isQuoted: false }, end)
    return true
  }

  const copy = (byte: number) => {
    assertPlain(byte)
    put(byte)
    position += 1
    isCellStart = byte === delimiter
    if (isCellStart) cells += 1
    if (cells > MAX_CELLS) throw syntaxError(recordLine, `A record has more than ${MAX_CELLS} cells.`)
  }

  const readAll = () => {
    while (position < bytes.length) {
      const byte = bytes[position] as number
      if (byte === LF) endLine(1)
      else if (byte === CR) {
        // A line feed may follow in the next chunk.
        if (position + 1 === bytes.length && !isLast) return
        endLine(bytes[position + 1] === LF ? 2 : 1)
      } else if (isCellStart && byte === QUOTE) {
        if (!takeQuoted()) return
      } else if (isCellStart && mayBeSpace(byte) && byte !== delimiter) {
        if (!takeUnquoted()) return
      } else copy(byte)
    }
  }

  const finish = () => {
    if (position < bytes.length) throw syntaxError(recordLine, 'A quoted cell has no closing quote.')
    if (position > (records.ends.at(-1)?.position ?? 0)) endRecord()
  }

  let failure: unknown
  try {
    readAll()
    if (isLast) finish()
  } catch (error) {
    failure = error
  }
  return { records, failure, end: records.ends.at(-1)?.position ?? 0, nextLine: recordLine }
}

/** Returns the index of the first record that is not UTF-8; -1 if there is none. */
const findInvalid = (bytes: Buffer, { ends }: Records) => {
  if (isUtf8(bytes.subarray(0, ends.at(-1)?.position ?? 0))) return -1
  return ends.findIndex(({ position }, index) => !isUtf8(bytes.subarray(ends[index - 1]?.position ?? 0, position)))
}

/**
 * Returns a function that takes cells out of the chunks of a CSV file, before fast-csv parses the rest. Quoted cells:
 * fast-csv does not report whether a cell was quoted, which differs for NULL and empty text, and for numbers and texts, and
 * it takes 50 ns for each character. Cells that may begin with white space: fast-csv skips it, but it belongs to the cell
 * (RFC 4180). Quotes must follow RFC 4180. `isLast`: the chunk ends the file.
 */
export const createTakenCells = (delimiter: string) => {
  const delimiterByte = delimiter.charCodeAt(0)
  const unread = createUnreadBytes()
  let out = Buffer.alloc(0)
  let line = 1
  let isStart = true
  /** Bytes to wait for. A record is read from its start again: with twice its bytes, so that the time stays linear. */
  let awaited = 0

  const read = (bytes: Buffer, isLast: boolean): CsvPart => {
    if (out.length <= bytes.length) out = Buffer.allocUnsafe(2 * bytes.length + 1)
    const { records, failure, end, nextLine } = readRecords({
      bytes,
      out,
      firstLine: line,
      delimiter: delimiterByte,
      isLast
    })
    const invalid = findInvalid(bytes, records)
    if (invalid >= 0) return { ...records.toPart(out, invalid), failure: notUtf8(records.lines[invalid] as number) }
    const part = records.toPart(out, records.lines.length)
    line = nextLine
    unread.drop(end)
    awaited = end > 0 ? 0 : Math.min(2 * unread.length(), MAX_RECORD_BYTES + 1)
    return { ...part, failure: unread.length() > MAX_RECORD_BYTES ? tooLong(line) : failure }
  }

  return (chunk: Uint8Array, isLast: boolean): CsvPart => {
    const bytes = unread.add(chunk)
    if (bytes.length < awaited && !isLast) return NOTHING
    if (!isStart) return read(bytes, isLast)
    if (bytes.length < BYTE_ORDER_MARK.length && !isLast) return NOTHING
    isStart = false
    if (!bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) return read(bytes, isLast)
    unread.drop(BYTE_ORDER_MARK.length)
    return read(unread.add(NO_BYTES), isLast)
  }
}
