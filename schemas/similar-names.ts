/**
 * Returns the edit distance: the number of letters to insert, delete, replace or swap with the next one.
 * https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance (optimal string alignment)
 */
const editDistance = (a: string, b: string) => {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => Number(rows[row]?.[column])
  for (let i = 1; i <= a.length; i += 1) {
    rows.push([i])
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY
      rows[i]?.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped))
    }
  }
  return at(a.length, b.length)
}

/** Returns the number of typing errors that two names differ by; infinity for more than `max`. */
export const countTypos = (a: string, b: string, max: number) => {
  const typos = Math.abs(a.length - b.length) > max ? Number.POSITIVE_INFINITY : editDistance(a, b)
  return typos <= max ? typos : Number.POSITIVE_INFINITY
}

/** Characters. A table may have 2,000 columns, and the time of a comparison grows with the square of the length. */
const MAX_COMPARED_LENGTH = 40

/** Returns 0 for names of 1 or 2 letters, 1 for up to 5 letters, otherwise 2. */
const maxTypos = ({ length }: string) => Math.min(2, Math.floor(length / 3))

/** Returns "Did you mean 'name'?" with the most similar of these names, ignoring case; undefined if none is similar. */
export const suggestName = (sent: string, names: Iterable<string>): string | undefined => {
  if (sent.length > MAX_COMPARED_LENGTH) return undefined
  const max = maxTypos(sent)
  let closest: string | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const name of names) {
    const typos = countTypos(sent.toLowerCase(), name.toLowerCase(), max)
    if (typos < fewest) [closest, fewest] = [name, typos]
  }
  return closest === undefined ? undefined : `Did you mean '${closest}'?`
}
