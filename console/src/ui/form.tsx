import type { ReactNode } from 'react'
import styles from './form.module.css'

/** A form whose submission stays on the page. */
export const Form = ({ onSubmit, children }: { readonly onSubmit: () => void; readonly children: ReactNode }) => (
  <form
    className={styles.form}
    onSubmit={(event) => {
      event.preventDefault()
      // A form in a dialog is a React child of the form of its page.
      event.stopPropagation()
      onSubmit()
    }}
  >
    {children}
  </form>
)

/** Tells the password manager of the browser whose password a form sets. */
export const Username = ({ name }: { readonly name: string }) => (
  <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
)
