/** Folds the case of ASCII letters only, as SQLite does when it compares names. */
export const foldName = (name: string) =>
  /[A-Z]/.test(name) ? name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name

/** Returns the names of a text in which commas separate them. */
export const splitNames = (names: string) => names.split(',').map((name) => name.trim())
