/** The delimiters of CSV, as the service names them. */
export const DELIMITERS = [',', ';', '|', 'tab'] as const
export type Delimiter = (typeof DELIMITERS)[number]

export const characterOf = (delimiter: Delimiter) => (delimiter === 'tab' ? '\t' : delimiter)

/** Returns the delimiter that is most frequent in the first line. */
export const guessDelimiter = (text: string): Delimiter => {
  const [line = ''] = text.split(/\r|\n/, 1)
  const counts = DELIMITERS.map((delimiter) => line.split(characterOf(delimiter)).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}
