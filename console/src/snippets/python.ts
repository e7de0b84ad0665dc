import { type Call, CONTENT_TYPES } from './call.ts'

const CONSTANTS = new Map<unknown, string>([
  [null, 'None'],
  [true, 'True'],
  [false, 'False']
])

/** Returns a JSON value as Python writes it. */
const literal = (value: unknown): string => {
  const constant = CONSTANTS.get(value)
  if (constant !== undefined) return constant
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value ?? {})
    .map(([key, item]) => `${JSON.stringify(key)}: ${literal(item)}`)
    .join(', ')}}`
}

const bodyLine = ({ body }: Call) => {
  if (body === undefined) return []
  return body.type === 'csv'
    ? ['    data=open("records.csv", "rb").read(),']
    : [`    data=json.dumps(${literal(body.value)}).encode(),`]
}

const headersOf = ({ body }: Call) => [
  '"authorization": "Bearer " + os.environ["ROWHOUSE_TOKEN"]',
  ...(body === undefined ? [] : [`"content-type": "${CONTENT_TYPES[body.type]}"`])
]

export const python = (call: Call, service: string) =>
  [
    ...(call.isFile ? [] : ['import json']),
    'import os',
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(service + call.path)},`,
    `    method="${call.method}",`,
    `    headers={${headersOf(call).join(', ')}},`,
    ...bodyLine(call),
    ')',
    'with urllib.request.urlopen(request) as response:',
    call.isFile ? '    print(response.read().decode())' : '    print(json.load(response))'
  ].join('\n')
