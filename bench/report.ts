/** Beyond this share of a core the generator, not the service, may be what limits a case. */
const BUSY_GENERATOR = 0.9
/** Beyond this share of a core other programs may be. */
const MOST_DISTURBED = 0.15

export interface Target {
  readonly text: string
  readonly isReached: boolean
  /** Why the figure says nothing about the service here; undefined: it does. */
  readonly notJudged?: string | undefined
}

export const atLeast = (figure: number, limit: number, unit = ''): Target => ({
  text: `≥ ${limit}${unit}`,
  isReached: figure >= limit
})

export const below = (figure: number, limit: number, unit = ''): Target => ({
  text: `< ${limit}${unit}`,
  isReached: figure < limit
})

export const verdict = ({ text, isReached, notJudged }: Target) => {
  if (notJudged !== undefined) return `${text}  not judged: ${notJudged}`
  return `${text}  ${isReached ? 'reached' : 'NOT REACHED'}`
}

export const perSecond = (value: number) => Math.round(value).toLocaleString('en')
export const milliseconds = (value: number) => value.toFixed(2)
export const microseconds = (value: number) => value.toFixed(1)
export const ratio = (value: number) => value.toFixed(2)
export const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0)

const percent = (share: number) => `${(share * 100).toFixed(0)} %`

export const generatorShare = (share: number) => `${percent(share)}${share > BUSY_GENERATOR ? ' *' : '  '}`
export const othersShare = (share: number) => `${percent(share)}${share > MOST_DISTURBED ? ' !' : '  '}`

export const NOTES = [
  '* the load generator used more than 90 % of a core: it may be the limit, not the service',
  '! what runs beside the case, or other programs, used more than 15 % of a core: without a reason, measure again'
]

const widthOf = (rows: readonly (readonly string[])[], column: number) =>
  Math.max(...rows.map((row) => String(row[column]).length))

/** Rows as aligned text. The first and the last column are words, the others figures. */
export const alignedTable = (rows: readonly (readonly string[])[]) => {
  const pad = (cell: string, column: number, { length }: readonly string[]) => {
    if (column === length - 1) return cell
    const width = widthOf(rows, column)
    return column === 0 ? cell.padEnd(width) : cell.padStart(width)
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, column, row))
        .join('   ')
        .trimEnd()
    )
    .join('\n')
}

interface Figure {
  readonly name: string
  readonly value: string
  readonly target: Target
}

/** Figures beside their targets. */
export const figureTable = (figures: readonly Figure[]) =>
  alignedTable(figures.map(({ name, value, target }) => [name, value, verdict(target)]))
