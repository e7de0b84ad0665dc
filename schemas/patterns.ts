/** Names of tables and fields that are made here. */
export const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_]{0,62}$'

/** 1 to 100 printable characters. */
export const ADMIN_NAME_PATTERN = '^[^\\p{C}\\p{Zl}\\p{Zp}]{1,100}$'

/** Integers beyond ±(2^53−1) come as decimal text. */
export const INTEGER_PATTERN = '^-?[0-9]{1,19}$'

/** Each of the patterns as a message says it, behind "must be". */
export const patternPhrases: Readonly<Record<string, string>> = {
  [NAME_PATTERN]: 'a letter, then letters, digits or _, 63 characters at most',
  [ADMIN_NAME_PATTERN]: '1 to 100 printable characters',
  [INTEGER_PATTERN]: 'a number, or an integer as decimal text'
}
