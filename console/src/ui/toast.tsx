import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import { ServiceError } from '../api/errors.ts'
import { texts } from '../texts/common.ts'
import { IconButton } from './button.tsx'
import { classes } from './classes.ts'
import styles from './toast.module.css'

const manager = Toast.createToastManager()

interface Notice {
  readonly title: string
  readonly description?: string
  /** A button that undoes what was done, or repeats what failed. */
  readonly action?: { readonly label: string; readonly run: () => void }
}

const ACTION_MS = 10_000
const NOTICE_MS = 5000

/** Shows a notice at the edge of the page. */
export const notify = ({ title, description, action }: Notice) => {
  let isRun = false
  const run = () => {
    manager.close(id)
    // A second click may come before the notice has disappeared.
    if (!isRun) action?.run()
    isRun = true
  }
  const id = manager.add({
    title,
    description,
    timeout: action ? ACTION_MS : NOTICE_MS,
    ...(action && { actionProps: { children: action.label, onClick: run } })
  })
}

/** Shows what failed, and why. It stays until it is closed. */
export const notifyError = (title: string, error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  const hint = error instanceof ServiceError ? error.hint : undefined
  manager.add({
    title,
    description: hint ? `${message} ${hint}` : message,
    type: 'error',
    timeout: 0,
    priority: 'high'
  })
}

const List = () => {
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={classes(styles.toast, toast.type === 'error' && styles.error)}>
      <div className={styles.text}>
        <Toast.Title className={styles.title} />
        <Toast.Description className={styles.description} />
      </div>
      <Toast.Action />
      <Toast.Close render={<IconButton label={texts.close} />}>
        <X size={14} aria-hidden="true" />
      </Toast.Close>
    </Toast.Root>
  ))
}

export const Toasts = () => (
  <Toast.Provider toastManager={manager}>
    <Toast.Portal>
      <Toast.Viewport className={styles.viewport}>
        <List />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
)
