import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import styles from './dialog.module.css'

interface ModalProps {
  /** The name of a modal that has no title. */
  readonly label?: string
  readonly className: string | undefined
  /** Called on Escape and on a click beside the modal. Left out: the modal stays. */
  readonly onClose?: () => void
  readonly children: ReactNode
}

/** A frame over the page. It is open as long as it is rendered. */
export const Modal = ({ label, className, onClose, children }: ModalProps) => (
  <Base.Root open onOpenChange={(isOpen) => !isOpen && onClose?.()}>
    <Base.Portal>
      {/* Also over the panel of a record, which is a dialog itself. */}
      <Base.Backdrop className={styles.backdrop} forceRender />
      <Base.Popup className={classes(styles.modal, className)} data-modal aria-label={label}>
        {children}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
)

interface DialogProps extends Pick<ModalProps, 'onClose' | 'children'> {
  readonly title: string
  readonly hint?: ReactNode
  readonly isWide?: boolean
}

/** A modal with a title. */
export const Dialog = ({ title, hint, isWide = false, children, ...props }: DialogProps) => (
  <Modal {...props} className={classes(styles.dialog, isWide && styles.wide)}>
    <Base.Title>{title}</Base.Title>
    {hint !== undefined && <Base.Description className={styles.hint}>{hint}</Base.Description>}
    {children}
  </Modal>
)

/** The buttons at the end of a dialog or a form. */
export const Actions = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.actions}>{children}</div>
)
