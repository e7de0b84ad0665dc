import { type ReactNode, useEffect } from 'react'
import { isAtFields, ServiceError } from '../api/errors.ts'
import { texts } from '../texts/common.ts'
import { Button } from './button.tsx'
import styles from './page.module.css'

interface PageProps {
  readonly title: string
  /** Beside the title: what kind of thing it is, how many. */
  readonly sub?: ReactNode
  readonly actions?: ReactNode
  /** false: the content uses the whole area, as the grid does. */
  readonly isPadded?: boolean
  readonly children: ReactNode
}

/** A page: its title and actions at the top, its content below. */
export const Page = ({ title, sub, actions, isPadded = true, children }: PageProps) => {
  useEffect(() => {
    document.title = `${title} · Rowhouse`
  }, [title])
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <h1 title={title}>{title}</h1>
        {sub !== undefined && <span className={styles.sub}>{sub}</span>}
        <div className={styles.actions}>{actions}</div>
      </header>
      {isPadded ? (
        <div className={styles.body} data-page-body>
          {children}
        </div>
      ) : (
        children
      )}
    </div>
  )
}

/** The content of a form page: not wider than is easy to read. */
export const Narrow = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.narrow}>{children}</div>
)

/** What a list shows when it is empty: what is missing, and what to do next. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className={styles.empty}>
    <h2>{title}</h2>
    {children}
  </div>
)

interface ProblemProps {
  readonly error: unknown
  readonly onRetry?: () => void
  /** Other buttons. */
  readonly children?: ReactNode
}

/** A failure in place of what could not be loaded or done. */
export const Problem = ({ error, onRetry, children }: ProblemProps) => {
  const { code, hint, requestId }: Partial<ServiceError> = error instanceof ServiceError ? error : {}
  // A dialog over the page asks for the new password.
  if (code === 'PASSWORD_CHANGE_REQUIRED') return null
  return (
    <div role="alert" className={styles.problem}>
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {hint !== undefined && <p>{hint}</p>}
      {requestId !== undefined && <p className={styles.request}>{texts.requestId(requestId)}</p>}
      {onRetry && <Button onClick={onRetry}>{texts.retry}</Button>}
      {children}
    </div>
  )
}

interface FormProblemProps {
  /** null: none. */
  readonly error: unknown
  /** The fields that show their own errors. */
  readonly fields: readonly string[] | ((path: string) => boolean)
}

/** The failure of a form, unless its fields show all of it. */
export const FormProblem = ({ error, fields }: FormProblemProps) => {
  const hasField = typeof fields === 'function' ? fields : (path: string) => fields.includes(path)
  return error === null || isAtFields(error, hasField) ? null : <Problem error={error} />
}
