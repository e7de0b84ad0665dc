import type { ReactNode } from 'react'
import type { components } from '../api/schema.d.ts'
import { texts } from '../texts/overview.ts'
import { formatBytes, formatCount } from '../ui/size.ts'
import { Time } from '../ui/time.tsx'
import styles from './overview.module.css'

type Status = components['schemas']['ServiceStatus']

const Fact = ({
  name,
  hint,
  children
}: {
  readonly name: string
  readonly hint?: string
  readonly children: ReactNode
}) => (
  <div className={styles.fact} title={hint}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** Version, sizes, and counts since the start. */
export const ServiceFacts = ({ status }: { readonly status: Status }) => {
  const { version, startedAt, databaseBytes, walBytes, requests } = status
  return (
    <dl className={styles.facts}>
      <Fact name={texts.version}>{version}</Fact>
      <Fact name={texts.started}>
        <Time value={startedAt} />
      </Fact>
      <Fact name={texts.database}>{formatBytes(databaseBytes)}</Fact>
      <Fact name={texts.wal}>{formatBytes(walBytes)}</Fact>
      <Fact name={texts.requests} hint={texts.requestsHint}>
        {formatCount(requests.received)}
      </Fact>
      <Fact name={texts.refused} hint={texts.refusedHint}>
        {formatCount(requests.refused)}
      </Fact>
      <Fact name={texts.failed} hint={texts.failedHint}>
        <span className={requests.failed > 0 ? styles.bad : undefined}>{formatCount(requests.failed)}</span>
      </Fact>
    </dl>
  )
}

/** The latest scans that took longer than a second, with what would help. */
export const SlowScans = ({ scans }: { readonly scans: Status['slowScans'] }) => {
  if (scans.length === 0) return <p className={styles.note}>{texts.noSlowScans}</p>
  return (
    <ul className={styles.rows}>
      {scans.map(({ at, table, milliseconds, filter, order, helpfulIndex }) => (
        <li key={`${at} ${table} ${milliseconds}`} className={styles.scan}>
          <span>
            {texts.slowScan(table, milliseconds)} · <Time value={at} />
          </span>
          <code>{[filter ?? texts.all, ...(order === null ? [] : [texts.sortedBy(order)])].join(', ')}</code>
          {helpfulIndex.length > 0 && (
            <span className={styles.note}>{texts.helpfulIndex(helpfulIndex.join(', '))}</span>
          )}
        </li>
      ))}
    </ul>
  )
}
