import { UnexpectedChanges } from '../database.ts'

/** An error as it crosses a thread: classes do not survive the crossing. */
export interface PlainError {
  readonly code: string
  readonly message: string
  /** With UNEXPECTED_CHANGES: which statement of the unit. */
  readonly statement?: number
}

/** The answer to whatever the engine is asked, or still does, once it closes. */
export const engineStopped: PlainError = { code: 'ENGINE_STOPPED', message: 'The service is stopping. Try again.' }

const stringProperty = (error: unknown, name: 'code' | 'message') => {
  const value: unknown = error instanceof Error ? Reflect.get(error, name) : undefined
  return typeof value === 'string' ? value : ''
}

export const toPlainError = (error: unknown): PlainError => ({
  code: error instanceof UnexpectedChanges ? 'UNEXPECTED_CHANGES' : stringProperty(error, 'code'),
  message: stringProperty(error, 'message'),
  ...(error instanceof UnexpectedChanges && { statement: error.statement })
})
