import type { ClusterCounts, EngineCounts, ScanCounts } from '../engine/counts.ts'
import type { Database, FileSizes } from '../engine/database.ts'
import { createHistogram } from './histogram.ts'
import type { Figure, Metrics } from './metrics.ts'

type Definition = Pick<Figure, 'type' | 'name' | 'help'>

const counter = (name: string, help: string): Definition => ({ type: 'counter', name, help })
const gauge = (name: string, help: string): Definition => ({ type: 'gauge', name, help })

const COUNTS: readonly (readonly [Definition, (counts: EngineCounts) => number])[] = [
  [counter('rowhouse_reads_total', 'Reads on the event loop.'), ({ reads }) => reads.reads],
  [
    counter('rowhouse_read_batches_total', 'Batches of these reads, each in one snapshot.'),
    ({ reads }) => reads.batches
  ],
  [gauge('rowhouse_reads_pending', 'Reads that wait for the next batch.'), ({ reads }) => reads.pending],
  [gauge('rowhouse_writes_pending', 'Writes that are queued or in flight.'), ({ writes }) => writes.pending],
  [
    gauge('rowhouse_writes_pending_bytes', 'Values of these writes. A character counts as one byte.'),
    ({ writes }) => writes.pendingSize
  ],
  [counter('rowhouse_writes_refused_total', 'Writes that got OVERLOADED.'), ({ writes }) => writes.refused],
  [gauge('rowhouse_large_writes_waiting', 'Large writes that wait.'), ({ bulkWrites }) => bulkWrites.waiting],
  [
    counter('rowhouse_large_writes_refused_total', 'Large writes that got OVERLOADED.'),
    ({ bulkWrites }) => bulkWrites.refused
  ],
  [gauge('rowhouse_readers_held', 'Reader threads that an export holds.'), ({ heldReaders }) => heldReaders],
  [gauge('rowhouse_view_processes', 'Processes that compute views.'), ({ viewProcesses }) => viewProcesses],
  [
    gauge('rowhouse_imports_running', 'Files of imports that are being staged or stored.'),
    ({ stagings }) => stagings.running
  ],
  [counter('rowhouse_imports_total', 'Files of imports since the start.'), ({ stagings }) => stagings.started],
  [
    gauge(
      'rowhouse_unread_response_bytes',
      'Large responses that clients have not read yet. A character counts as one byte.'
    ),
    ({ unreadCharacters }) => unreadCharacters
  ],
  [
    gauge(
      'rowhouse_statement_cache_bytes',
      'SQL of the cached statements of the event loop. SQLite needs up to 17 times as much memory.'
    ),
    ({ cachedSql }) => cachedSql
  ]
]

const MILLISECOND = 0.001

const CLUSTER: readonly (readonly [Definition, (counts: ClusterCounts) => number])[] = [
  [
    counter('rowhouse_cluster_retries_total', 'Requests to the cluster that were sent again.'),
    ({ retries }) => retries
  ],
  [
    counter('rowhouse_cluster_reloads_total', 'How often tables, tokens or settings were read again.'),
    ({ reloads }) => reloads
  ],
  [
    counter(
      'rowhouse_cluster_reload_wait_seconds_total',
      'Time that requests and writes have waited for these reloads.'
    ),
    ({ waitMs }) => MILLISECOND * waitMs
  ]
]

/** Adds the metrics of a cluster. */
const addCluster = (metrics: Metrics, { counts }: Pick<Database, 'counts'>) => {
  const read = () => counts().cluster as ClusterCounts
  for (const [definition, of] of CLUSTER) metrics.add({ ...definition, read: () => of(read()) })
  const help = 'The node that gets the requests of this service: the leader, if it is known.'
  const readNode = () => [{ labels: { node: read().node }, value: 1 }]
  metrics.add({ ...gauge('rowhouse_cluster_node', help), labels: ['node'], read: readNode })
}

const FILES: readonly (readonly [Definition, (sizes: FileSizes) => number])[] = [
  [gauge('rowhouse_database_bytes', 'Size of the database file.'), ({ database }) => database],
  [gauge('rowhouse_wal_bytes', 'Size of the write-ahead log.'), ({ wal }) => wal],
  [
    counter(
      'rowhouse_wal_restarts_total',
      'How often the write-ahead log began again, after a checkpoint of all its pages.'
    ),
    ({ walRestarts }) => walRestarts
  ]
]

const SCANS: readonly (readonly [Definition, (counts: ScanCounts) => number])[] = [
  [gauge('rowhouse_scans_running', 'Scans in reader threads, or in processes for views.'), ({ running }) => running],
  [gauge('rowhouse_scans_waiting', 'Scans that wait for a thread or a process.'), ({ waiting }) => waiting],
  [counter('rowhouse_scans_refused_total', 'Scans that got OVERLOADED.'), ({ refused }) => refused]
]

const TIMES = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

/** Adds the histograms of write batches. One batch has up to thousands of writes, so it costs nothing for each of them. */
const addWriteBatches = (metrics: Metrics, db: Database) => {
  const add = (name: string, help: string, bounds: readonly number[]) => {
    const histogram = createHistogram(bounds)
    metrics.addHistogram({ name, help, read: () => [{ labels: {}, buckets: histogram.read() }] })
    return histogram.observe
  }
  const observeUnits = add('rowhouse_write_batch_size', 'Writes in one transaction.', SIZES)
  const observeWait = add(
    'rowhouse_write_wait_seconds',
    'Wait of the first write of a transaction for its begin.',
    TIMES
  )
  const observeCommit = add('rowhouse_write_commit_seconds', 'Statements and fsync of a transaction.', TIMES)
  db.onWriteBatch(({ units, waitMs, commitMs }) => {
    observeUnits(units)
    observeWait(MILLISECOND * waitMs)
    observeCommit(MILLISECOND * commitMs)
  })
}

/** Adds the metrics of the database engine. */
export const addEngineMetrics = (metrics: Metrics, db: Database) => {
  for (const [definition, read] of COUNTS) metrics.add({ ...definition, read: () => read(db.counts()) })
  for (const [definition, read] of FILES) metrics.add({ ...definition, read: async () => read(await db.fileSizes()) })
  for (const [definition, read] of SCANS) {
    const readPools = () => {
      const { scans, viewScans } = db.counts()
      return [
        { labels: { pool: 'threads' }, value: read(scans) },
        { labels: { pool: 'views' }, value: read(viewScans) }
      ]
    }
    metrics.add({ ...definition, labels: ['pool'], read: readPools })
  }
  addWriteBatches(metrics, db)
  if (db.counts().cluster) addCluster(metrics, db)
}
