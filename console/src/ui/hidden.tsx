import styles from './hidden.module.css'

/** A text for screen readers only. */
export const Hidden = ({ children }: { readonly children: string }) => <span className={styles.hidden}>{children}</span>
