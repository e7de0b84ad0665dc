const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

const isOpening = (token: string | undefined) => token === '{' || token === '['
const isClosing = (token: string | undefined) => token === '}' || token === ']'

/** Returns JSON with a line for each value. It is not parsed, because JavaScript would round integers beyond 2^53. */
export const indentJson = (json: string) => {
  const tokens = json.match(TOKENS) ?? []
  let depth = 0
  const written = tokens.map((token, index) => {
    const next = tokens[index + 1]
    if (isOpening(token)) depth++
    if (isClosing(next)) depth--
    const isEmpty = isOpening(token) && isClosing(next)
    const endsLine = (isOpening(token) && !isEmpty) || token === ',' || (isClosing(next) && !isEmpty)
    return (token === ':' ? ': ' : token) + (endsLine ? `\n${'  '.repeat(depth)}` : '')
  })
  return written.join('')
}
