import { parseString } from 'fast-csv'

/** The cells of a CSV text, line by line, as a reader that is not ours finds them. */
export const parseCsv = (csv: string) =>
  new Promise<string[][]>((resolve, reject) => {
    const rows: string[][] = []
    parseString(csv)
      .on('data', (row) => rows.push(row))
      .on('error', reject)
      .on('end', () => resolve(rows))
  })
