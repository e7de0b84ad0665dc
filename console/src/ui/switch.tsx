import type { ComponentProps } from 'react'
import styles from './switch.module.css'

/** A switch that takes effect at once. `label` is its name for screen readers. */
export const Switch = ({
  label,
  checked,
  ...props
}: Omit<ComponentProps<'input'>, 'type' | 'role' | 'className' | 'checked'> & {
  readonly label: string
  readonly checked: boolean
}) => (
  <input
    type="checkbox"
    role="switch"
    aria-label={label}
    aria-checked={checked}
    title={label}
    {...props}
    checked={checked}
    className={styles.switch}
  />
)
