/** Share of a core. Above it the generator, not the service, may limit the throughput. */
const MAX_GENERATOR_SHARE = 0.9
/** Share of a core. Above it other programs may have changed the figures. */
export const MAX_OTHERS_SHARE = 0.15

export interface Target {
  readonly text: string
  readonly isReached: boolean
  /** Why the target does not apply to this figure here; undefined: it applies. */
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

export const atMost = (figure: number, limit: number): Target => ({ text: `≤ ${limit}`, isReached: figure <= limit })

export const verdict = ({ text, isReached, notJudged }: Target) => {
  if (notJudged !== undefined) return `${text}  not judged: ${notJudged}`
  return `${text}  ${isReached ? 'reached' : 'NOT REACHED'}`
}

export const perSecond = (value: number) => Math.round(value).toLocaleString('en')
export const milliseconds = (value: number) => value.toFixed(2)
export const microseconds = (value: number) => value.toFixed(1)
export const ratio = (value: number) => value.toFixed(2)
export const preciseRatio = (value: number) => value.toFixed(3)
export const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0)

const percent = (share: number) => `${(share * 100).toFixed(0)} %`

export const generatorShare = (share: number) => `${percent(share)}${share > MAX_GENERATOR_SHARE ? ' *' : '  '}`
export const othersShare = (share: number) => `${percent(share)}${share > MAX_OTHERS_SHARE ? ' !' : '  '}`

export const NOTES = [
  '* the load generator used more than 90 % of a core: the generator may be the limit, not the service',
  '! logins, exports or writers of the case, or other programs, used more than 15 % of a core: if other programs, measure again'
]

const widthOf = (rows: readonly (readonly string[])[], column: number) =>
  Math.max(...rows.map((row) => String(row[column]).length))

/** Returns rows as aligned text. The first and the last column hold words, the others figures. */
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
  readonly target?: Target
}

/** Returns a table of figures and their targets. */
export const figureTable = (figures: readonly Figure[]) =>
  alignedTable(figures.map(({ name, value, target }) => [name, value, ...(target ? [verdict(target)] : [])]))
