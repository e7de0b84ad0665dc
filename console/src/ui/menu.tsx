import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'
import { classes } from './classes.ts'
import styles from './menu.module.css'

/** A menu. `trigger` is the button that opens it. */
export const Menu = ({ trigger, children }: { readonly trigger: ReactElement; readonly children: ReactNode }) => (
  <Base.Root>
    <Base.Trigger render={trigger} />
    <Base.Portal>
      <Base.Positioner sideOffset={4} align="end">
        <Base.Popup className={styles.popup}>{children}</Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)

interface ItemProps {
  readonly onSelect: () => void
  readonly isDanger?: boolean
  readonly isDisabled?: boolean
  readonly children: ReactNode
}

export const MenuItem = ({ onSelect, isDanger = false, isDisabled = false, children }: ItemProps) => (
  <Base.Item className={classes(styles.item, isDanger && styles.danger)} onClick={onSelect} disabled={isDisabled}>
    {children}
  </Base.Item>
)

export const MenuSeparator = () => <Base.Separator className={styles.separator} />
