/** Strings, and the braces around them. The last string may have no end. */
const TOKENS = /"(?:[^"\\]|\\.)*(?:"|$)|[{}]/gs

/** Returns the texts of the objects of a JSON array. `start`: of the array. An object without its end is left out. */
export const objectsIn = (start: string): readonly string[] => {
  const found: string[] = []
  let depth = 0
  let from = 0
  for (const { 0: token, index } of start.matchAll(TOKENS)) {
    if (token === '{') {
      if (depth === 0) from = index
      depth += 1
    } else if (token === '}') {
      depth -= 1
      if (depth === 0) found.push(start.slice(from, index + 1))
    }
  }
  return found
}
