const TERMS_PER_GROUP = 100

/**
 * Joins terms with an operator, in groups: a chain is as deep as it is long, and SQLite accepts a depth of 1,000.
 */
export const joinTerms = (terms: readonly string[], operator: string): string => {
  if (terms.length <= TERMS_PER_GROUP) return `(${terms.join(` ${operator} `)})`
  const groups = Array.from({ length: Math.ceil(terms.length / TERMS_PER_GROUP) }, (_, index) =>
    joinTerms(terms.slice(index * TERMS_PER_GROUP, (index + 1) * TERMS_PER_GROUP), operator)
  )
  return joinTerms(groups, operator)
}
