import { Type } from '@sinclair/typebox'

const EXAMPLE = `# HELP rowhouse_http_requests_total Responses that were sent, by route and class of the status.
# TYPE rowhouse_http_requests_total counter
rowhouse_http_requests_total{method="GET",route="/data/:table/records/:pk",status="2xx"} 1027
`

export const MetricsSchema = {
  description: 'The metrics in the text format of Prometheus, version 0.0.4.',
  content: { 'text/plain': { schema: Type.String({ examples: [EXAMPLE] }) } }
}
