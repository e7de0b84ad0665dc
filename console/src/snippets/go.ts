import { bodyText, type Call, CONTENT_TYPES } from './call.ts'

/** Returns a text as a raw literal, or as a quoted one if it contains a backtick. */
const literal = (text: string) => (text.includes('`') ? JSON.stringify(text) : `\`${text}\``)

const bodyOf = ({ body }: Call) => {
  if (body === undefined) return { value: 'nil', imports: [], lines: [] }
  if (body.type === 'json')
    return { value: `strings.NewReader(${literal(bodyText(body))})`, imports: ['"strings"'], lines: [] }
  return { value: 'file', imports: [], lines: ['\tfile, err := os.Open("records.csv")', ...STOP] }
}

const STOP = ['\tif err != nil {', '\t\tlog.Fatal(err)', '\t}']

export const go = (call: Call, service: string) => {
  const { value, imports, lines } = bodyOf(call)
  const type = call.body && `\trequest.Header.Set("Content-Type", "${CONTENT_TYPES[call.body.type]}")`
  return [
    'package main',
    '',
    'import (',
    ...['"io"', '"log"', '"net/http"', '"os"', ...imports].map((name) => `\t${name}`),
    ')',
    '',
    'func main() {',
    ...lines,
    `\trequest, err := http.NewRequest("${call.method}", ${JSON.stringify(service + call.path)}, ${value})`,
    ...STOP,
    '\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("ROWHOUSE_TOKEN"))',
    ...(type ? [type] : []),
    '\tresponse, err := http.DefaultClient.Do(request)',
    ...STOP,
    '\tdefer response.Body.Close()',
    '\tif _, err := io.Copy(os.Stdout, response.Body); err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '}'
  ].join('\n')
}
