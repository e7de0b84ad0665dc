import { type ReactNode, useEffect, useRef } from 'react'
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

const focusProblem = (box: Element | null) => box?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()

/** After a refused submission, moves the focus to the first control that is wrong: it may be out of sight. */
export const useProblemFocus = (submissions: number, error: unknown) => {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (submissions > 0) focusProblem(box.current)
  }, [submissions])
  // Not when the error is reset, because the user types then.
  useEffect(() => {
    if (error) focusProblem(box.current)
  }, [error])
  return box
}

/** Tells the password manager of the browser whose password a form sets. */
export const Username = ({ name }: { readonly name: string }) => (
  <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
)
