/** The previous secret: the one before the last rotation. */
export interface PreviousSecret {
  readonly digest: string
  /** Epoch milliseconds. */
  readonly validUntil: number
}

/** The properties by which a credential is found. */
export interface Indexed {
  readonly id: number
  readonly digest: string
  readonly previousSecret?: PreviousSecret | null
}

const digestsOf = ({ digest, previousSecret }: Indexed) => (previousSecret ? [digest, previousSecret.digest] : [digest])

/** Creates an index of credentials by their ids and by the digests of their secrets. */
export const createCredentialIndex = <E extends Indexed>() => {
  let byId = new Map<number, E>()
  const byDigest = new Map<string, E>()
  let highestId = 0
  let isInOrder = true

  const removeDigests = (entry: E) => {
    for (const digest of digestsOf(entry)) byDigest.delete(digest)
  }

  const remove = (id: number) => {
    const entry = byId.get(id)
    if (!entry) return
    byId.delete(id)
    removeDigests(entry)
  }

  /** Adds an entry, or replaces the one with its id. */
  const set = (entry: E) => {
    const known = byId.get(entry.id)
    if (known) removeDigests(known)
    // Another service issued this lower id first, and its row arrives later.
    else if (entry.id < highestId) isInOrder = false
    byId.set(entry.id, entry)
    for (const digest of digestsOf(entry)) byDigest.set(digest, entry)
    highestId = Math.max(highestId, entry.id)
  }

  /** Returns all entries, in the order of their ids. */
  const all = (): Iterable<E> => {
    if (!isInOrder) byId = new Map([...byId].sort(([one], [other]) => one - other))
    isInOrder = true
    return byId.values()
  }

  const find = (id: number): E | undefined => byId.get(id)
  const findByDigest = (digest: string): E | undefined => byDigest.get(digest)
  return { set, remove, all, find, findByDigest }
}

export type CredentialIndex<E extends Indexed> = ReturnType<typeof createCredentialIndex<E>>
