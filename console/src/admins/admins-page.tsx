import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { texts } from '../texts/admins.ts'
import { Button } from '../ui/button.tsx'
import { Page, Problem } from '../ui/page.tsx'
import { AdminDialogs, type AdminTask } from './admin-dialogs.tsx'
import { AdminList } from './admin-list.tsx'
import styles from './admins.module.css'
import { adminsQuery } from './queries.ts'

export const AdminsPage = () => {
  const admins = useQuery(adminsQuery)
  const [task, setTask] = useState<AdminTask>()
  return (
    <Page
      title={texts.title}
      sub={admins.data?.length}
      actions={
        <Button variant="primary" onClick={() => setTask({ kind: 'create' })}>
          {texts.add}
        </Button>
      }
    >
      {admins.isError && <Problem error={admins.error} onRetry={() => admins.refetch()} />}
      {admins.data && <AdminList admins={admins.data} onTask={setTask} />}
      <p className={styles.hint}>{texts.listHint}</p>
      {task && <AdminDialogs task={task} onTask={setTask} />}
    </Page>
  )
}
