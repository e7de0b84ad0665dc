export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [ -~]+$/
const HEADER = /^([!#$%&'*+.^_`|~0-9a-z-]+): ?([^\r\n\0]*)$/i

const readHead = (head: string) => {
  const [first = '', ...lines] = head.split('\r\n')
  const status = Number(STATUS_LINE.exec(first)?.[1])
  if (Number.isNaN(status)) throw new Error(`Invalid status line: ${JSON.stringify(first.slice(0, 100))}`)
  const headers = lines.map((line) => {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined) throw new Error(`Invalid header: ${JSON.stringify(line.slice(0, 100))}`)
    return [name.toLowerCase(), String(value)]
  })
  return { status, headers: Object.fromEntries(headers) as Record<string, string> }
}

/** Returns the content of a chunked body, and the length of its encoding. */
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

const readBody = ({ status, headers }: Omit<RawResponse, 'body'>, bytes: string) => {
  // A response to HEAD has the Content-Length of the missing body.
  if (status < 200 || bytes === '' || bytes.startsWith('HTTP/1.1 ')) return { body: '', length: 0 }
  if (headers['transfer-encoding'] === 'chunked') return readChunks(bytes)
  const length = Number(headers['content-length'])
  if (!(length <= bytes.length)) throw new Error('The body is shorter than its Content-Length.')
  return { body: bytes.slice(0, length), length }
}

/**
 * Parses the responses of a connection. Each character is one byte.
 *
 * @throws where the bytes are not valid HTTP to the end
 */
export const readResponses = (bytes: string): readonly RawResponse[] => {
  const responses: RawResponse[] = []
  for (let rest = bytes; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`A response has no end: ${JSON.stringify(rest.slice(0, 100))}`)
    const head = readHead(rest.slice(0, end))
    const { body, length } = readBody(head, rest.slice(end + 4))
    responses.push({ ...head, body: Buffer.from(body, 'latin1').toString() })
    rest = rest.slice(end + 4 + length)
  }
  return responses
}
