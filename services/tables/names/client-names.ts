import { foldName } from '../../model/names.ts'
import { isReservedForFields, isReservedForTables } from './reserved-words.ts'

/**
 * Suffixes that the OpenAPI document appends to the client name of a table, to name its schemas and operations. Client
 * names are unique with and without them: if a table is `Album`, no table gets `AlbumCreate`. A suffix that is added or
 * removed later does not change names that are already stored.
 */
export const DERIVED_SUFFIXES = [
  'Create',
  'Update',
  'Page',
  'Envelope',
  'PageEnvelope',
  'Schema',
  'Aggregate',
  'AggregateFunction',
  'AggregatePeriod',
  'Change',
  'ChangeEnvelope',
  'Query',
  'Filter',
  'Where',
  'QueryPage',
  'QueryPageEnvelope',
  'Expand',
  'Addition'
] as const

/** Go clients have a function `NewAlbum` and a type `NullableAlbum` beside each type `Album`. */
export const DERIVED_PREFIXES = ['New', 'Nullable'] as const

const MAX_LENGTH = 60

const withDerived = (name: string) =>
  [...['', ...DERIVED_SUFFIXES].map((suffix) => name + suffix), ...DERIVED_PREFIXES.map((prefix) => prefix + name)].map(
    foldName
  )

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)

/** Returns the text in ASCII letters, as far as its script can be transliterated: `RiBen` for 日本. */
const toAscii = async (text: string) => (isAscii(text) ? text : (await import('any-ascii')).default(text))

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** Returns the text in Pascal case, with `prefix` before a digit; undefined without an ASCII letter or digit. */
const toPascalCase = async (text: string, prefix: string): Promise<string | undefined> => {
  const ascii = await toAscii(text)
  const cased = /[a-z]/.test(ascii) ? ascii : foldName(ascii)
  const name = (cased.match(/[A-Za-z0-9]+/g) ?? []).map(capitalised).join('')
  if (name === '') return undefined
  return (/^\d/.test(name) ? prefix + name : name).slice(0, MAX_LENGTH)
}

/** Returns `OrderItems`, `OrderItems2`, …. After a digit it is `Log1x2`, because `Log12` could be another name. */
const numberedFrom = (name: string) => (number: number) => {
  if (number === 1) return name
  const suffix = `${/\d$/.test(name) ? 'x' : ''}${number}`
  return name.slice(0, MAX_LENGTH - suffix.length) + suffix
}

export type Candidates = (number: number) => string

const firstFree = (candidateOf: Candidates, isFree: (name: string) => boolean) => {
  let number = 1
  while (!isFree(candidateOf(number))) number += 1
  return candidateOf(number)
}

/**
 * Returns the candidates for a name, the best first. `word` is appended to a reserved name, and precedes a digit. If
 * the stored name has no ASCII form, `word` and `ordinal` are the name.
 */
const candidates = async (stored: string, word: string, ordinal: number, isReserved: (name: string) => boolean) => {
  const name = await toPascalCase(stored, word)
  if (name === undefined) return (number: number) => `${word}${ordinal + number - 1}`
  return numberedFrom(isReserved(name) ? name.slice(0, MAX_LENGTH - word.length) + word : name)
}

/** Whether the client name of a table, or a name derived from it, is a reserved word or the name of a shared schema. */
export const isReservedTable = (name: string) => withDerived(name).some(isReservedForTables)

/** The names of tables and all names that are derived from them, without regard to case. */
export interface TakenNames {
  isTaken(name: string): boolean
  add(name: string): void
}

export const takenNames = (names: Iterable<string>): TakenNames => {
  const taken = new Set([...names].flatMap(withDerived))
  return {
    isTaken: (name) => withDerived(name).some((member) => taken.has(member)),
    add: (name) => {
      for (const member of withDerived(name)) taken.add(member)
    }
  }
}

/** Returns the candidates for a table, numbered from 1, the best first. `ordinal` is the number in `Table7`. */
export const tableCandidates = (stored: string, ordinal: number) =>
  candidates(stored, 'Table', ordinal, isReservedTable)

/** Returns the first free name and takes it. */
export const takeTableName = (candidateOf: Candidates, taken: TakenNames): string => {
  const name = firstFree(candidateOf, (candidate) => !isReservedTable(candidate) && !taken.isTaken(candidate))
  taken.add(name)
  return name
}

/** Returns a name for each of the fields, in their order. `used`: the names of the other fields of the table. */
export const nameFields = async (stored: readonly string[], used: readonly string[] = []): Promise<string[]> => {
  const taken = new Set(used.map(foldName))
  const isFree = (name: string) => !isReservedForFields(name) && !taken.has(foldName(name))
  const names: string[] = []
  for (const [index, text] of stored.entries()) {
    const ordinal = used.length + index + 1
    const name = firstFree(await candidates(text, 'Field', ordinal, isReservedForFields), isFree)
    taken.add(foldName(name))
    names.push(name)
  }
  return names
}
