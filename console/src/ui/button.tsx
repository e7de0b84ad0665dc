import type { ComponentProps } from 'react'
import { Link } from 'wouter'
import styles from './button.module.css'
import { classes } from './classes.ts'

type Variant = 'default' | 'primary' | 'danger' | 'quiet'

const styleOf = (variant: Variant, isIcon: boolean) =>
  classes(styles.button, variant !== 'default' && styles[variant], isIcon && styles.icon)

interface Look {
  readonly variant?: Variant
}

export const Button = ({ variant = 'default', className, ...props }: ComponentProps<'button'> & Look) => (
  <button type="button" {...props} className={classes(styleOf(variant, false), className)} />
)

/** A button with an icon only. `label` is its name for screen readers, and is shown on hover. */
export const IconButton = ({
  variant = 'quiet',
  label,
  ...props
}: Omit<ComponentProps<'button'>, 'className'> & Look & { readonly label: string }) => (
  <button type="button" aria-label={label} title={label} {...props} className={styleOf(variant, true)} />
)

export const LinkButton = ({
  variant = 'default',
  ...props
}: Look & { readonly href: string; readonly onClick?: () => void; readonly children: React.ReactNode }) => (
  <Link {...props} className={styleOf(variant, false)} />
)

interface DownloadLinkProps extends Look {
  readonly href: string
  /** The name of a link that has an icon only. */
  readonly label?: string
  readonly onClick?: () => void
  readonly children: React.ReactNode
}

/** A link to a file of the service, which the browser downloads. */
export const DownloadLink = ({ variant = 'default', href, label, ...props }: DownloadLinkProps) => (
  <a
    href={href}
    download
    aria-label={label}
    title={label}
    {...props}
    className={styleOf(variant, label !== undefined)}
  />
)
