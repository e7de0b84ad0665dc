/** Folds case as SQLite compares names: ASCII only. */
export const foldName = (name: string) =>
  /[A-Z]/.test(name) ? name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name
