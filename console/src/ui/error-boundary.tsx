import { Component, type ReactNode } from 'react'
import { texts } from '../texts/common.ts'
import { Button } from './button.tsx'
import { Page, Problem } from './page.tsx'

interface ErrorBoundaryProps {
  /** What is shown after a failure. Left out: a page with the reason. */
  readonly fallback?: ReactNode
  readonly children: ReactNode
}

interface State {
  readonly error: Error | null
}

/** Shows an error in place of the part of the page that has failed, such as one whose code an upgrade has removed. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, State> {
  override state: State = { error: null }

  static getDerivedStateFromError = (error: Error): State => ({ error })

  override render() {
    const { error } = this.state
    const { children, fallback } = this.props
    if (error === null) return children
    if (fallback !== undefined) return fallback
    return (
      <Page title={texts.broken}>
        <Problem error={error}>
          <Button onClick={() => window.location.reload()}>{texts.reload}</Button>
        </Problem>
      </Page>
    )
  }
}
