import { styleText } from 'node:util'
import type { Terminal } from './terminal.ts'

/** An error of the API, as the service returned it. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly code: string
  readonly hint: string | undefined
  readonly requestId: string | undefined
  readonly details: readonly { readonly message: string }[]

  constructor({ code, message, hint, requestId, details = [] }: FailedCall) {
    super(message)
    this.code = code
    this.hint = hint
    this.requestId = requestId
    this.details = details
  }
}

export interface FailedCall {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly requestId?: string | undefined
  readonly details?: readonly { readonly message: string }[]
}

const FAILED = 'COMMAND_FAILED'

const toFailedCall = (error: Error): FailedCall =>
  error instanceof CallError
    ? { code: error.code, message: error.message, details: error.details, hint: error.hint, requestId: error.requestId }
    : { code: FAILED, message: error.message }

/** Returns the text of an error for standard error: sentences, or with `isJson` the envelope of the API. */
export const errorText = (error: Error, isJson: boolean) => {
  const failed = toFailedCall(error)
  if (isJson) return JSON.stringify({ success: false, error: failed })
  const { code, message, hint, details = [] } = failed
  return [`${code}: ${message}`, ...details.map((detail) => `  ${detail.message}`), ...(hint ? [hint] : [])].join('\n')
}

type Cell = string | number

/** Returns lines of columns. Each row has as many cells as the heading. */
export const columns = (heading: readonly string[], rows: readonly (readonly Cell[])[]) => {
  const texts = [heading, ...rows].map((row) => row.map(String))
  const widths = heading.map((_, index) => Math.max(...texts.map((row) => (row[index] as string).length)))
  return texts.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index] as number))
      .join('  ')
      .trimEnd()
  )
}

const NAME_WIDTH = 10

/** Returns a line for each property. */
export const properties = (shown: object) =>
  Object.entries(shown).map(([name, value]) => `${name.padEnd(NAME_WIDTH)}${value}`)

const isStyled = ({ stdout, env }: Terminal) => stdout.isTTY === true && env.NO_COLOR === undefined

/** Creates the function that prints the result of a command: the lines, or with --json the data. */
export const createPrinter =
  ({ stdout }: Terminal, { json }: { readonly json?: boolean }) =>
  (data: unknown, lines: readonly string[]) => {
    for (const line of json ? [JSON.stringify(data)] : lines) stdout.write(`${line}\n`)
  }

/** Makes the heading of a table bold on a terminal. */
export const withHeading = (terminal: Terminal, [heading = '', ...lines]: readonly string[]) => [
  isStyled(terminal) ? styleText('bold', heading, { validateStream: false }) : heading,
  ...lines
]

/** Returns a time in ISO 8601, to the second; empty for null. */
export const timeText = (time: number | null) =>
  time === null ? '' : new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
