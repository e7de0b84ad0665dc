import type { ComponentProps } from 'react'
import { classes } from './classes.ts'
import styles from './input.module.css'

interface Look {
  readonly isMono?: boolean
  /** true: as high as a button, for rows and toolbars. */
  readonly isCompact?: boolean
}

const classOf = ({ isMono, isCompact }: Required<Look>) =>
  classes(styles.input, isMono && styles.mono, isCompact && styles.compact)

type ControlProps<E extends 'input' | 'select' | 'textarea'> = Omit<ComponentProps<E>, 'className'> & Look

/** An input without a visible label. `TextField` has one. */
export const Input = ({ isMono = false, isCompact = false, ...props }: ControlProps<'input'>) => (
  <input {...props} className={classOf({ isMono, isCompact })} />
)

export const TextArea = ({ isMono = false, isCompact = false, ...props }: ControlProps<'textarea'>) => (
  <textarea {...props} className={classOf({ isMono, isCompact })} />
)

export const Select = ({ isMono = false, isCompact = false, ...props }: ControlProps<'select'>) => (
  <select {...props} className={classOf({ isMono, isCompact })} />
)
