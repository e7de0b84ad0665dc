import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { startApp } from './helpers.ts'
import { METRICS_TOKEN, namesIn, readMetrics } from './metrics-client.ts'
import { startCluster } from './rqlite/cluster.ts'

interface Panel {
  readonly title: string
  readonly type: string
  readonly description?: string
  readonly targets?: readonly { readonly expr: string }[]
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string; readonly description: string }
}

const app = await startApp(t, { env: { METRICS_TOKEN } })
const { env } = await startCluster(t)
const ofCluster = await startApp(t, { env: { ...env, METRICS_TOKEN } })
/** The metrics of a service of a file, and of one of a cluster. */
const text = (await readMetrics(app)) + (await readMetrics(ofCluster))
const names = namesIn(text)
const histograms = [...text.matchAll(/^# TYPE (\S+) histogram$/gm)].map(([, name]) => String(name))
/** Names that a query can use. */
const served = new Set([
  ...names.filter((name) => !histograms.includes(name)),
  ...histograms.flatMap((name) => [`${name}_bucket`, `${name}_sum`, `${name}_count`])
])

const unknownNames = (expressions: readonly string[]) => {
  const used = expressions.flatMap((expr) => expr.match(/\b(?:rowhouse|nodejs|process)_\w+/g) ?? [])
  return [...new Set(used)].filter((name) => !served.has(name))
}

t.test('the panels of the dashboard use metrics that the service has', async (t) => {
  const { panels } = JSON.parse(readFileSync('deploy/grafana-dashboard.json', 'utf8')) as { panels: readonly Panel[] }
  const charts = panels.filter(({ type }) => type !== 'row')
  t.ok(charts.length >= 12, `${charts.length} panels`)
  for (const { title, description, targets = [] } of charts)
    t.ok(
      description && targets.length > 0 && targets.every(({ expr }) => /\b(?:rowhouse|nodejs|process)_/.test(expr)),
      title
    )
  t.strictSame(unknownNames(charts.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))), [])
  t.strictSame(unknownNames(['rate(rowhouse_gone_total[5m])']), ['rowhouse_gone_total'], 'another name would be found')
})

t.test('the alert rules use metrics that the service has, and say what to do', async (t) => {
  const { groups } = parse(readFileSync('deploy/alerts.yml', 'utf8')) as {
    groups: readonly { rules: readonly Rule[] }[]
  }
  const rules = groups.flatMap((group) => group.rules)
  t.ok(rules.length >= 8, `${rules.length} rules`)
  t.strictSame(unknownNames(rules.map(({ expr }) => expr)), [])
  for (const { alert, annotations } of rules)
    t.match(annotations, { summary: /\w.*\.$/, description: /\w.*\.$/ }, alert)
})

t.test('the reference has each metric, with its type', async (t) => {
  const reference = readFileSync('docs/reference/operations.md', 'utf8')
  const documented = [...reference.matchAll(/^\| `(rowhouse_\w+)`[^|]*\| (\w+) \|/gm)].map(
    ([, name, type]) => `${name} ${type}`
  )
  const types = [...text.matchAll(/^# TYPE (rowhouse_\S+ \w+)$/gm)].map(([, line]) => String(line))
  t.strictSame(documented.toSorted(), [...new Set(types)].toSorted())
})
