import { type Call, CONTENT_TYPES } from './call.ts'

const indented = (text: string) => text.replaceAll('\n', '\n  ')

const literal = (value: unknown) => indented(JSON.stringify(value, null, 2))

const bodyLine = ({ body }: Call) => {
  if (body === undefined) return []
  return body.type === 'csv'
    ? [`body: await readFile('records.csv')`]
    : [`body: JSON.stringify(${literal(body.value)})`]
}

const headersOf = ({ body }: Call) => [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: The program of the user has the template string.
  'authorization: `Bearer ${process.env.ROWHOUSE_TOKEN}`',
  ...(body === undefined ? [] : [`'content-type': '${CONTENT_TYPES[body.type]}'`])
]

export const typescript = (call: Call, service: string) => {
  const options = [
    ...(call.method === 'GET' ? [] : [`method: '${call.method}'`]),
    `headers: { ${headersOf(call).join(', ')} }`,
    ...bodyLine(call)
  ]
  return [
    ...(call.body?.type === 'csv' ? [`import { readFile } from 'node:fs/promises'`, ''] : []),
    `const response = await fetch(${JSON.stringify(service + call.path)}, {`,
    `  ${options.join(',\n  ')}`,
    '})',
    'if (!response.ok) throw new Error(await response.text())',
    `console.log(await response.${call.isFile ? 'text' : 'json'}())`
  ].join('\n')
}
