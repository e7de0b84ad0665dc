export type Delimiter = ',' | ';' | '|' | '\t'

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

/** Returns the index after a quoted part, which may have delimiters, line breaks and doubled quotes. */
const readQuoted = (text: string, start: number, state: State) => {
  for (let index = start; index < text.length; index += 1) {
    if (text[index] !== '"') continue
    if (text[index + 1] !== '"') {
      state.cell = text.slice(start, index).replaceAll('""', '"')
      return index + 1
    }
    index += 1
  }
  state.cell = text.slice(start).replaceAll('""', '"')
  return text.length
}

/** Returns the cells of CSV (RFC 4180) or of what a spreadsheet puts on the clipboard. */
export const parseDelimited = (text: string, delimiter: Delimiter): readonly (readonly string[])[] => {
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
    } else if (text[index] === '"' && state.cell === '') {
      index = readQuoted(text, index + 1, state)
    } else {
      state.cell += text[index]
      index += 1
    }
  }
  if (state.cell !== '' || state.row.length > 0) endRow(state)
  return state.rows
}

const DELIMITERS = [',', ';', '|', '\t'] as const

/** Returns the delimiter that is most frequent in the first line. */
export const guessDelimiter = (text: string): Delimiter => {
  const [line = ''] = text.split(/\r|\n/, 1)
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}
