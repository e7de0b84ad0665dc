/** Folds the case of ASCII letters only, as SQLite does when it compares names. */
export const foldName = (name: string) =>
  /[A-Z]/.test(name) ? name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name
