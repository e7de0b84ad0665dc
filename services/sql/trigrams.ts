/** Maximum number of trigrams of one text. More trigrams exclude few more rows. */
const MAX_TRIGRAMS = 32

/** Maximum characters of the FTS5 query of a filter. */
const MAX_LENGTH = 8192

const isAscii = (character: string) => character <= '\x7f'

const trigramsIn = (characters: readonly string[]) =>
  characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(''))

const quote = (trigram: string) => `"${trigram.replaceAll('"', '""')}"`

/**
 * Returns an FTS5 query for the rows with all trigrams of the text; null if it has none. The tokenizer folds the case of
 * all letters and skips NUL, which no request contains, so the rows are at least those that contain the text.
 *
 * `endsAtCharacter`: the text does not end within a character of the row. In a stored text that is not UTF-8, other bytes may
 * follow the last character, and the tokenizer takes them for a part of it. `instr` does not, so its last character counts
 * only if it is ASCII.
 */
export const matchOf = (text: string, endsAtCharacter: boolean): string | null => {
  const characters = [...text]
  const isCertain = endsAtCharacter || characters.slice(-1).every(isAscii)
  const trigrams = new Set(trigramsIn(isCertain ? characters : characters.slice(0, -1)))
  return trigrams.size === 0 ? null : [...trigrams].slice(0, MAX_TRIGRAMS).map(quote).join(' AND ')
}

const isNotNull = (match: string | null): match is string => match !== null

/** The rows of all matches. A match that is null, or that would exceed `MAX_LENGTH`, is left out: the others have at least these rows. */
export const matchAll = (matches: readonly (string | null)[]): string | null => {
  const [first, ...others] = matches.filter(isNotNull)
  if (first === undefined) return null
  return others.reduce((all, match) => {
    const longer = `(${all}) AND (${match})`
    return longer.length > MAX_LENGTH ? all : longer
  }, first)
}

/** The rows of any match; null if one of them is null. */
export const matchAny = (matches: readonly (string | null)[]): string | null => {
  if (matches.length === 0 || !matches.every(isNotNull)) return null
  const any = [...new Set(matches)].map((match) => `(${match})`).join(' OR ')
  return any.length > MAX_LENGTH ? null : any
}
