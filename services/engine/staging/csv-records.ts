import { parse } from 'fast-csv'
import type { CsvCell } from '../../model/kinds/kind.ts'
import { createTakenCells, TAKEN } from './taken-cells.ts'

export type OnCells = (line: number, cells: readonly CsvCell[]) => void

/** Reads the records of a file from its chunks. */
export interface RecordReader {
  /** Resolves when the complete records of the chunk have been read. @throws UnreadableFile */
  write(chunk: Uint8Array): Promise<void>
  end(): Promise<void>
}

/** Calls `onCells` for each line of a CSV file. An empty line has no cells. */
export const createCsvReader = (delimiter: string, onCells: OnCells): RecordReader => {
  const takeOut = createTakenCells(delimiter)
  // The callback of `write` gets the error, too.
  const parser = parse<string[], string[]>({ delimiter }).on('error', () => {})

  const read = async (chunk: Uint8Array, isLast: boolean) => {
    const part = takeOut(chunk, isLast)
    const [lines, taken] = [part.lines.values(), part.taken.values()]
    const toCell = (text: string): CsvCell =>
      text === TAKEN ? (taken.next().value as CsvCell) : { text, isQuoted: false }
    // Called for each record before `write` calls back. Without a result, no record is queued in the stream.
    parser.transform((cells: string[], done: () => void) => {
      onCells(lines.next().value as number, cells.map(toCell))
      done()
    })
    await new Promise<void>((resolve, reject) =>
      parser.write(part.text, (error) => (error ? reject(error) : resolve()))
    )
    if (part.failure !== undefined) throw part.failure
  }

  return {
    write: (chunk) => read(chunk, false),
    end: () => read(new Uint8Array(), true)
  }
}
