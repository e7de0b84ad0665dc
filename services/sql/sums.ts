/** SQLite takes expressions of 1,000 levels. Each term of a sum is one level, unless it is in parentheses with others. */
const MAX_TERMS = 500

/** Returns the sum of any number of SQL expressions; 0 for none. */
export const sumOf = (terms: readonly string[]): string => {
  const starts = Array.from({ length: Math.ceil(terms.length / MAX_TERMS) }, (_, index) => index * MAX_TERMS)
  return starts.map((start) => `(${terms.slice(start, start + MAX_TERMS).join(' + ')})`).join(' + ') || '0'
}
