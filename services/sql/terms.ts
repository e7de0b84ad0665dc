const TERMS_PER_GROUP = 100

/**
 * Terms with an operator between them. A chain nests as deep as it is long, and SQLite takes expressions up to 1,000
 * deep.
 */
export const joinTerms = (terms: readonly string[], operator: string): string => {
  if (terms.length <= TERMS_PER_GROUP) return `(${terms.join(` ${operator} `)})`
  const groups = Array.from({ length: Math.ceil(terms.length / TERMS_PER_GROUP) }, (_, index) =>
    joinTerms(terms.slice(index * TERMS_PER_GROUP, (index + 1) * TERMS_PER_GROUP), operator)
  )
  return joinTerms(groups, operator)
}
