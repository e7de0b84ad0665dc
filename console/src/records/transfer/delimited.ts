interface State {
  readonly rows: string[][]
  row: string[]
  cell: string
}

const endCell = (state: State) => {
  state.row.push(state.cell)
  state.cell = ''
}

const endRow = (state: State) => {
  endCell(state)
  state.rows.push(state.row)
  state.row = []
}

const BREAK = /\r\n|\r|\n/y

interface Quoted {
  readonly cell: string
  /** The index after it. */
  readonly end: number
}

/**
 * Reads a cell in quotes, which may have delimiters, line breaks and doubled quotes. undefined: the cell only begins with
 * a quote, which belongs to it. Spreadsheets copy `"A" brand` without quotes around it.
 */
const readQuoted = (text: string, start: number, delimiter: string): Quoted | undefined => {
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] !== '"') continue
    const next = text[index + 1]
    if (next !== '"') {
      const isEnd = next === undefined || [delimiter, '\r', '\n'].includes(next)
      return isEnd ? { cell: text.slice(start + 1, index).replaceAll('""', '"'), end: index + 1 } : undefined
    }
    index += 1
  }
  return undefined
}

/** Returns the cells of CSV (RFC 4180) or of what a spreadsheet puts on the clipboard. `delimiter`: one character. */
export const parseDelimited = (text: string, delimiter: string): readonly (readonly string[])[] => {
  const state: State = { rows: [], row: [], cell: '' }
  let index = 0
  while (index < text.length) {
    BREAK.lastIndex = index
    const lineBreak = BREAK.exec(text)?.[0]
    if (lineBreak !== undefined) {
      endRow(state)
      index += lineBreak.length
    } else if (text[index] === delimiter) {
      endCell(state)
      index += 1
    } else {
      const quoted = text[index] === '"' && state.cell === '' ? readQuoted(text, index, delimiter) : undefined
      state.cell += quoted?.cell ?? text[index]
      index = quoted?.end ?? index + 1
    }
  }
  if (state.cell !== '' || state.row.length > 0) endRow(state)
  return state.rows
}
