/** An error as it crosses a thread: structured clone keeps neither its class nor its code. */
export interface PlainError {
  readonly code: string
  readonly message: string
  /** Position of the statement that failed in its unit, from 0; absent if another step failed, such as COMMIT. */
  readonly statement?: number
}

/** The failure of every call that the engine refuses or abandons because it is closing. */
export const engineStopped: PlainError = { code: 'ENGINE_STOPPED', message: 'The service is stopping. Try again.' }

/** The failure of a scan whose client has disconnected. */
export const scanAborted: PlainError = { code: 'SCAN_ABORTED', message: 'The client has disconnected.' }

const property = (error: unknown, name: keyof PlainError): unknown =>
  error instanceof Error ? Reflect.get(error, name) : undefined

const stringProperty = (error: unknown, name: 'code' | 'message') => {
  const value = property(error, name)
  return typeof value === 'string' ? value : ''
}

export const toPlainError = (error: unknown): PlainError => {
  const plain = { code: stringProperty(error, 'code'), message: stringProperty(error, 'message') }
  const statement = property(error, 'statement')
  return typeof statement === 'number' ? { ...plain, statement } : plain
}
