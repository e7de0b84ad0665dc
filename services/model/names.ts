/** Folds the case of ASCII letters only, as SQLite does when it compares names. */
export const foldName = (name: string) =>
  /[A-Z]/.test(name) ? name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name

/** Returns the names of a text in which commas separate them. */
export const splitNames = (names: string) => names.split(',').map((name) => name.trim())

const isOpen = (path: string | undefined) => path !== undefined && path.lastIndexOf('(') > path.lastIndexOf(')')

/** Returns the paths of a text in which commas separate them. `customer(name,city)` is one path. */
export const splitPaths = (paths: string): readonly string[] => {
  const split: string[] = []
  for (const part of paths.split(',')) {
    if (isOpen(split.at(-1))) split.push(`${split.pop()},${part}`)
    else split.push(part)
  }
  return split.map((path) => path.trim())
}
