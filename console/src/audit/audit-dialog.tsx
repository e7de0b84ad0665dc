import type { ReactNode } from 'react'
import { texts } from '../texts/audit.ts'
import { texts as common } from '../texts/common.ts'
import { Button } from '../ui/button.tsx'
import { Actions, Dialog } from '../ui/dialog.tsx'
import { LocalTime } from '../ui/time.tsx'
import styles from './audit.module.css'
import type { AuditRow } from './queries.ts'

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className={styles.fact}>
    <dt>{name}</dt>
    <dd dir="auto">{children}</dd>
  </div>
)

const Facts = ({ row }: { readonly row: AuditRow }) => (
  <dl>
    <Fact name={texts.facts.time}>
      <LocalTime value={row.at} />
    </Fact>
    <Fact name={texts.facts.caller}>
      {row.callerName} <span className={styles.note}>{texts.callerId(row.callerKind, row.callerId)}</span>
    </Fact>
    {row.address !== '' && <Fact name={texts.facts.address}>{row.address}</Fact>}
    <Fact name={texts.facts.action}>
      <code>{row.action}</code>
    </Fact>
    {row.count > 1 && <Fact name={texts.facts.count}>{row.count}</Fact>}
    {row.target !== '' && <Fact name={texts.facts.target}>{texts.withId(row.target, row.targetId)}</Fact>}
    {row.requestId !== '' && (
      <Fact name={texts.facts.request}>
        <code>{row.requestId}</code>
      </Fact>
    )}
    <Fact name={texts.facts.id}>{row.id}</Fact>
  </dl>
)

/** All that the audit has of one change. */
export const AuditDialog = ({ row, onClose }: { readonly row: AuditRow; readonly onClose: () => void }) => (
  <Dialog title={texts.actionOf(row.action, row.count)} onClose={onClose}>
    <Facts row={row} />
    {Object.keys(row.summary).length > 0 && <pre className={styles.json}>{JSON.stringify(row.summary, null, 2)}</pre>}
    <Actions>
      <Button onClick={onClose}>{common.close}</Button>
    </Actions>
  </Dialog>
)
