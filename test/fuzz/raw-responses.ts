export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [ -~]+$/
const HEADER = /^([!#$%&'*+.^_`|~0-9a-z-]+): ?([^\r\n\0]*)$/i

const readHead = (head: string) => {
  const [first = '', ...lines] = head.split('\r\n')
  const status = Number(STATUS_LINE.exec(first)?.[1])
  if (Number.isNaN(status)) throw new Error(`This is no status line: ${JSON.stringify(first.slice(0, 100))}`)
  const headers = lines.map((line) => {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined) throw new Error(`This is no header: ${JSON.stringify(line.slice(0, 100))}`)
    return [name.toLowerCase(), String(value)]
  })
  return { status, headers: Object.fromEntries(headers) as Record<string, string> }
}

/** Where a body of chunks ends, and what is in it. */
const readChunks = (bytes: string) => {
  let body = ''
  for (let at = 0; ; ) {
    const size = /^([0-9a-f]+)\r\n/i.exec(bytes.slice(at, at + 20))
    if (!size) throw new Error('A chunk has no size.')
    const start = at + size[0].length
    const end = start + Number.parseInt(String(size[1]), 16)
    if (bytes.slice(end, end + 2) !== '\r\n') throw new Error('A chunk has no end.')
    if (end === start) return { body, length: end + 2 }
    body += bytes.slice(start, end)
    at = end + 2
  }
}

const readBody = ({ status, headers }: Omit<RawAnswer, 'body'>, bytes: string) => {
  // Answers to HEAD say how long their body would be.
  if (status < 200 || bytes === '' || bytes.startsWith('HTTP/1.1 ')) return { body: '', length: 0 }
  if (headers['transfer-encoding'] === 'chunked') return readChunks(bytes)
  const length = Number(headers['content-length'])
  if (!(length <= bytes.length)) throw new Error('The body is shorter than its Content-Length.')
  return { body: bytes.slice(0, length), length }
}

/** The answers in what a connection brought, a byte a character. @throws where it is not HTTP from end to end */
export const readAnswers = (bytes: string): readonly RawAnswer[] => {
  const answers: RawAnswer[] = []
  for (let rest = bytes; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`An answer has no end: ${JSON.stringify(rest.slice(0, 100))}`)
    const head = readHead(rest.slice(0, end))
    const { body, length } = readBody(head, rest.slice(end + 4))
    answers.push({ ...head, body: Buffer.from(body, 'latin1').toString() })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}
