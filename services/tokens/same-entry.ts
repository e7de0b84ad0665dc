import { isDeepStrictEqual } from 'node:util'

/** Properties that follow from others, or that `createLastUses` keeps. */
const NOT_COMPARED: ReadonlySet<string> = new Set(['scope', 'lastUsedAt', 'savedUse'])

/** Whether the entry that was made of a row equals the one in memory, except for its use. */
export const isSameEntry = <E extends object>(entry: E, known: E): boolean =>
  (Object.keys(entry) as (keyof E & string)[]).every(
    (key) => NOT_COMPARED.has(key) || entry[key] === known[key] || isDeepStrictEqual(entry[key], known[key])
  )
