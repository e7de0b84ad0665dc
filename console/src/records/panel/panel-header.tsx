import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { texts } from '../../texts/common.ts'
import { IconButton } from '../../ui/button.tsx'
import styles from './record-panel.module.css'

interface PanelHeaderProps {
  readonly title: string
  readonly sub?: string | undefined
  readonly onClose: () => void
  readonly children?: ReactNode
}

export const PanelHeader = ({ title, sub, onClose, children }: PanelHeaderProps) => (
  <header className={styles.header}>
    <div className={styles.titles}>
      <h2 title={title} dir="auto">
        {title}
      </h2>
      {sub !== undefined && (
        <p title={sub} dir="auto">
          {sub}
        </p>
      )}
    </div>
    {children}
    <IconButton label={texts.close} onClick={onClose}>
      <X size={16} aria-hidden="true" />
    </IconButton>
  </header>
)
