import { styleText } from 'node:util'
import type { Output, Terminal } from './terminal.ts'

/** An error of the API, as the service returned it. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly code: string
  readonly hint: string | undefined
  readonly requestId: string | undefined
  readonly details: readonly FailureDetail[]

  constructor({ code, message, hint, requestId, details = [] }: FailedCall) {
    super(message)
    this.code = code
    this.hint = hint
    this.requestId = requestId
    this.details = details
  }
}

/** An argument or an option has a wrong form. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

interface FailureDetail {
  readonly message: string
  /** Of an imported file. */
  readonly line?: number
}

export interface FailedCall {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly requestId?: string | undefined
  readonly details?: readonly FailureDetail[]
}

const FAILED = 'COMMAND_FAILED'
const USAGE = 'WRONG_USAGE'

const toFailedCall = (error: Error): FailedCall => {
  if (!(error instanceof CallError))
    return { code: error instanceof UsageError ? USAGE : FAILED, message: error.message }
  const { code, message, details, hint, requestId } = error
  return { code, message, details, hint, requestId }
}

const detailText = ({ message, line }: FailureDetail) =>
  `  ${[line && `line ${line}`, printable(message)].filter(Boolean).join(': ')}`

/** Characters that a terminal obeys, or that change the order or the end of a line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const escapeUnits = (text: string) =>
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** Returns the text with unprintable characters as escapes such as \u001b: names of others must not control a terminal. */
export const printable = (text: string) => text.replaceAll(UNPRINTABLE, escapeUnits)

type Style = 'bold' | 'red' | 'green' | 'yellow'

/** FORCE_COLOR overrides NO_COLOR, as in Node. */
const hasColor = ({ isTTY }: Output, { FORCE_COLOR, NO_COLOR }: NodeJS.ProcessEnv) => {
  if (FORCE_COLOR !== undefined) return !['0', 'false'].includes(FORCE_COLOR)
  return isTTY === true && !NO_COLOR
}

/** Returns functions that style a text, each for one output of the terminal. */
export const createStyles = ({ stdout, stderr, env }: Terminal) => {
  const styleFor = (output: Output) => (style: Style, text: string) =>
    hasColor(output, env) ? styleText(style, text, { validateStream: false }) : text
  return { onOutput: styleFor(stdout), onError: styleFor(stderr) }
}

/** Returns the text of an error for standard error: sentences, or with `isJson` the envelope of the API. */
export const errorText = (terminal: Terminal, error: Error, isJson: boolean) => {
  const failed = toFailedCall(error)
  if (isJson) return JSON.stringify({ success: false, error: failed })
  const { code, message, hint, details = [] } = failed
  const { onError } = createStyles(terminal)
  return [
    `${onError('red', code)}: ${printable(message)}`,
    // A single detail repeats the message.
    ...details.filter((detail) => detail.message !== message || detail.line !== undefined).map(detailText),
    ...(hint ? [printable(hint)] : [])
  ].join('\n')
}

/** Returns the text of wrong usage as the envelope of the API. `message`: of the library. */
export const usageText = (message: string) =>
  JSON.stringify({ success: false, error: { code: USAGE, message: message.replace(/^error: /, '') } })

type Cell = string | number

/** Returns lines of columns. Each row has as many cells as the heading. */
export const columns = (heading: readonly string[], rows: readonly (readonly Cell[])[]) => {
  const texts = [heading, ...rows].map((row) => row.map((cell) => printable(String(cell))))
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
  Object.entries(shown).map(([name, value]) => `${name.padEnd(NAME_WIDTH)}${printable(String(value))}`)

interface PrintOptions {
  readonly json?: boolean
}

/** Creates the function that prints the result of a command: the lines, or with --json the data. */
export const createPrinter =
  ({ stdout }: Terminal, { json }: PrintOptions) =>
  (data: unknown, lines: readonly string[]) => {
    for (const line of json ? [JSON.stringify(data)] : lines) stdout.write(`${line}\n`)
  }

/** Prints warnings of a result on standard error. */
export const printWarnings = (terminal: Terminal, { json }: PrintOptions, warnings: readonly string[] = []) => {
  const { onError } = createStyles(terminal)
  for (const warning of warnings.map(printable))
    terminal.stderr.write(`${json ? warning : onError('yellow', warning)}\n`)
}

/** Makes the heading of a table bold on a terminal. */
export const withHeading = (terminal: Terminal, [heading = '', ...lines]: readonly string[]) => [
  createStyles(terminal).onOutput('bold', heading),
  ...lines
]

/** Returns a time in ISO 8601, to the second; empty for null. */
export const timeText = (time: number | null) =>
  time === null ? '' : new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
