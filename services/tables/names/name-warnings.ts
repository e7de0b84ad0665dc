import { excerpt } from '../../model/errors.ts'

/** Characters that end a text or a comment in generated code, or that it cannot show. */
const UNSAFE = /["'`\\\p{Cc}\p{Zl}\p{Zp}]|\*\//u

/** What most generators make of a name: they drop or replace other characters, and change the case. */
const converted = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

const shown = (name: string) => `'${excerpt(name)}'`

const warningOf = (name: string) => {
  if (converted(name) === '')
    return `The name ${shown(name)} has no ASCII letter or digit. Generators may not find a name for the field.`
  if (UNSAFE.test(name))
    return `The name ${shown(name)} has quotes, backslashes or control characters. Code that generators make of it may not compile.`
  return undefined
}

/** Returns the names that generators of clients may not handle, one sentence each. */
export const nameWarnings = (names: readonly string[]): string[] => {
  const byConverted = new Map<string, string>()
  const warnings: string[] = []
  for (const name of names) {
    const warning = warningOf(name)
    if (warning) warnings.push(warning)
    const key = converted(name)
    const other = byConverted.get(key)
    if (key !== '' && other !== undefined)
      warnings.push(`The names ${shown(other)} and ${shown(name)} become the same name in generated code.`)
    byConverted.set(key, name)
  }
  return warnings
}
