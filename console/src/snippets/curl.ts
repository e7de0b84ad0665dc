import { bodyText, type Call, CONTENT_TYPES } from './call.ts'
import { shellQuoted } from './shell.ts'

const dataOf = ({ body }: Call) => {
  if (body === undefined) return []
  const data = body.type === 'csv' ? '--data-binary @records.csv' : `--data ${shellQuoted(bodyText(body))}`
  return [`--header ${shellQuoted(`content-type: ${CONTENT_TYPES[body.type]}`)}`, data]
}

/** curl sends POST by itself if there is a body. */
const needsMethod = ({ method, body }: Call) => method !== (body === undefined ? 'GET' : 'POST')

export const curl = (call: Call, service: string) =>
  [
    `curl ${shellQuoted(service + call.path)}`,
    ...(needsMethod(call) ? [`--request ${call.method}`] : []),
    '--header "authorization: Bearer $ROWHOUSE_TOKEN"',
    ...dataOf(call)
  ].join(' \\\n  ')
