import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import styles from './dialog.module.css'

interface DialogProps {
  readonly title: string
  readonly hint?: ReactNode
  readonly isWide?: boolean
  /** Called on Escape and on a click beside the dialog. Left out: the dialog stays. */
  readonly onClose?: () => void
  readonly children: ReactNode
}

/** A dialog over the page. It is open as long as it is rendered. */
export const Dialog = ({ title, hint, isWide = false, onClose, children }: DialogProps) => (
  <Base.Root open onOpenChange={(isOpen) => !isOpen && onClose?.()}>
    <Base.Portal>
      {/* Also over the panel of a record, which is a dialog itself. */}
      <Base.Backdrop className={styles.backdrop} forceRender />
      <Base.Popup className={classes(styles.popup, isWide && styles.wide)} data-modal>
        <Base.Title>{title}</Base.Title>
        {hint !== undefined && <Base.Description className={styles.hint}>{hint}</Base.Description>}
        {children}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
)

/** The buttons at the end of a dialog or a form. */
export const Actions = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.actions}>{children}</div>
)
