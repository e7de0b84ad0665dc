import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { texts } from '../texts/backups.ts'
import { Button } from '../ui/button.tsx'
import { Empty, Page, Problem } from '../ui/page.tsx'
import { notify, notifyError } from '../ui/toast.tsx'
import { BackupDialogs, type BackupTask } from './backup-dialogs.tsx'
import { BackupList } from './backup-list.tsx'
import styles from './backups.module.css'
import { backupsQuery, createBackup, quickBackupsQuery } from './queries.ts'
import { Running } from './running.tsx'

const useMake = () =>
  useMutation({
    mutationFn: createBackup,
    onSuccess: (backup) => notify({ title: backup ? texts.made(backup.bytes) : texts.goesOn }),
    onError: (error) => notifyError(texts.notMade, error)
  })

const NoBackups = ({ children }: { readonly children: ReactNode }) => (
  <Empty title={texts.emptyTitle}>
    <p>{texts.empty}</p>
    <p>{texts.schedule}</p>
    <code>{texts.scheduleExample}</code>
    <p>{texts.scheduleHint}</p>
    <div className={styles.buttons}>{children}</div>
  </Empty>
)

/** The backups of the service, and the one that is being made. */
export const BackupsPage = () => {
  const make = useMake()
  const { data, error, refetch } = useQuery(make.isPending ? quickBackupsQuery : backupsQuery)
  const [task, setTask] = useState<BackupTask>()
  const isRunning = make.isPending || data?.running !== undefined
  const buttons = (
    <>
      <Button onClick={() => setTask({ kind: 'upload' })}>{texts.upload}</Button>
      <Button variant="primary" disabled={isRunning} onClick={() => make.mutate()}>
        {texts.make}
      </Button>
    </>
  )
  const hasBackups = data !== undefined && data.backups.length > 0
  return (
    <Page title={texts.title} sub={data?.backups.length} actions={hasBackups && buttons}>
      {error !== null && <Problem error={error} onRetry={() => refetch()} />}
      {isRunning && <Running running={data?.running} />}
      {hasBackups && <BackupList backups={data.backups} onTask={setTask} />}
      {hasBackups && <p className={styles.hint}>{texts.listHint}</p>}
      {data?.backups.length === 0 && <NoBackups>{buttons}</NoBackups>}
      {task && <BackupDialogs task={task} onClose={() => setTask(undefined)} />}
    </Page>
  )
}
