import { parseString } from 'fast-csv'

/** Returns the cells of a CSV text, line by line, as parsed by fast-csv: an independent parser. */
export const parseCsv = (csv: string) =>
  new Promise<string[][]>((resolve, reject) => {
    const rows: string[][] = []
    parseString(csv)
      .on('data', (row) => rows.push(row))
      .on('error', reject)
      .on('end', () => resolve(rows))
  })
