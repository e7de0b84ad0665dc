import { Dialog } from '@base-ui/react/dialog'
import { type ReactNode, useRef } from 'react'
import styles from './record-panel.module.css'

interface FrameProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** The area at the right. On a wide screen, the page is beside it; on others, below it. */
export const PanelFrame = ({ title, onClose, children }: FrameProps) => {
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Dialog.Root
      open
      modal={false}
      disablePointerDismissal
      onOpenChange={(isOpen, { reason }) => !isOpen && reason === 'escape-key' && onClose()}
    >
      <Dialog.Portal>
        <Dialog.Popup
          ref={popup}
          className={styles.panel}
          data-side-panel
          aria-label={title}
          initialFocus={() =>
            popup.current?.querySelector<HTMLElement>('form :is(input, textarea, select)') ?? popup.current
          }
        >
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
