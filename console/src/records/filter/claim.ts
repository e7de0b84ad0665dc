/** Returns the name of the claim for which a value stands in a rule of a role; undefined for another value. */
export const claimOf = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const [[key, name] = [], ...others] = Object.entries(value)
  return key === '$claim' && typeof name === 'string' && others.length === 0 ? name : undefined
}

export const toClaim = (name: string) => ({ $claim: name })
