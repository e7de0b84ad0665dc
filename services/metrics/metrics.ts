import { type Buckets, linesOf } from './histogram.ts'

/** A value of a metric with labels. */
export interface LabelledValue {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric whose values are read for each response of `GET /metrics`. */
export interface Figure {
  /** `counter`: only grows, until the process ends. */
  readonly type: 'counter' | 'gauge'
  /** `rowhouse_…`, with the unit at the end, and `_total` for a counter. */
  readonly name: string
  readonly help: string
  /** Names of the labels. Their values must be few, and never the name of a table, a token or a key. */
  readonly labels?: readonly string[]
  /** Returns the value, or one for each combination of labels. Without values the metric has no line. */
  readonly read: () => number | readonly LabelledValue[] | Promise<number | readonly LabelledValue[]>
}

/** A histogram whose buckets are read for each response of `GET /metrics`. */
export interface HistogramFigure extends Pick<Figure, 'name' | 'help' | 'labels'> {
  /** Returns the buckets for each combination of labels. */
  readonly read: () => readonly { readonly labels: LabelledValue['labels']; readonly buckets: Buckets }[]
}

const toValues = (read: number | readonly LabelledValue[]) =>
  typeof read === 'number' ? [{ labels: {}, value: read }] : read

/**
 * Creates the metrics of one service. prom-client is loaded here, because most services run without it. Its global registry is not used:
 * a process can have several services in tests.
 */
export const createMetrics = async () => {
  // The bundle has no named exports of a CommonJS package that is imported dynamically.
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = (await import('prom-client')).default
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })

  const add = ({ type, name, help, labels = [], read }: Figure) => {
    const Metric = type === 'counter' ? Counter : Gauge
    const metric = new Metric({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      collect: async () => {
        const values = toValues(await read())
        metric.reset()
        // A metric without labels is 0 after `reset`.
        metric.remove({})
        for (const { labels, value } of values) metric.inc(labels, value)
      }
    })
  }

  const addHistogram = ({ name, help, labels = [], read }: HistogramFigure) => {
    const histogram = new Histogram({ name, help, labelNames: [...labels], registers: [registry] })
    // The registry calls this function for the text of a metric.
    const getForPromString = async () => ({
      name,
      help,
      type: 'histogram',
      values: read().flatMap(({ labels, buckets }) => linesOf(name, labels, buckets))
    })
    Object.assign(histogram, { getForPromString })
  }

  return {
    /** Adds a metric. @throws if there is one with this name */
    add,
    /** Adds a histogram. @throws if there is a metric with this name */
    addHistogram,
    contentType: registry.contentType,
    /** Returns all metrics in the text format of Prometheus. */
    read: () => registry.metrics()
  }
}

export type Metrics = Awaited<ReturnType<typeof createMetrics>>
