import { foldName } from '../model/names.ts'
import { isReservedForFields, isReservedForTables } from './reserved-words.ts'

/**
 * What the OpenAPI document appends to the name of a table, for the schemas of the table. Names of tables are unique
 * with each of them: beside `Album`, no table has the name `AlbumCreate`. An entry that is removed or added later is
 * not applied to names that were given before.
 */
export const DERIVED_SUFFIXES = [
  'Create',
  'Update',
  'Page',
  'Envelope',
  'PageEnvelope',
  'Schema',
  'Increment',
  'Change',
  'ChangeEnvelope'
] as const

const MAX_LENGTH = 60

const familyOf = (name: string) => ['', ...DERIVED_SUFFIXES].map((suffix) => foldName(name + suffix))

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)

/** Returns the text in ASCII letters where a script has such a form: 日本 is `RiBen`. */
const toAscii = async (text: string) => (isAscii(text) ? text : (await import('any-ascii')).default(text))

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** Returns the text in Pascal case, or undefined where no ASCII letter or digit remains. `prefix`: for a digit first. */
const toPascalCase = async (text: string, prefix: string): Promise<string | undefined> => {
  const ascii = await toAscii(text)
  const cased = /[a-z]/.test(ascii) ? ascii : foldName(ascii)
  const name = (cased.match(/[A-Za-z0-9]+/g) ?? []).map(capitalised).join('')
  if (name === '') return undefined
  return (/^\d/.test(name) ? prefix + name : name).slice(0, MAX_LENGTH)
}

/** Returns `OrderItems`, `OrderItems2`, …; after a digit `Log1x2`, because `Log12` would be another name. */
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
 * Returns the candidates for a name, the best first. `word`: follows a reserved name, precedes a digit, and stands with
 * an ordinal where nothing remains of the name.
 */
const candidates = async (stored: string, word: string, ordinal: number, isReserved: (name: string) => boolean) => {
  const name = await toPascalCase(stored, word)
  if (name === undefined) return (number: number) => `${word}${ordinal + number - 1}`
  return numberedFrom(isReserved(name) ? name.slice(0, MAX_LENGTH - word.length) + word : name)
}

/** Whether a name of a table, or a name derived from it, is a reserved word or the name of a shared schema. */
export const isReservedTable = (name: string) => familyOf(name).some(isReservedForTables)

/** The names of tables and all names that are derived from them, without regard to case. */
export interface TakenNames {
  isTaken(name: string): boolean
  add(name: string): void
}

export const takenNames = (names: Iterable<string>): TakenNames => {
  const taken = new Set([...names].flatMap(familyOf))
  return {
    isTaken: (name) => familyOf(name).some((member) => taken.has(member)),
    add: (name) => {
      for (const member of familyOf(name)) taken.add(member)
    }
  }
}

/** Returns the possible names of a table, the best first, from 1. `ordinal`: the first one if nothing remains: `Table7`. */
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
