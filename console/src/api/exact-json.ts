type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

/** Browsers since 2025 pass the digits of a number. Without them, wide integers are rounded. */
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown
const { rawJSON } = JSON as { readonly rawJSON?: (text: string) => unknown }

const WIDE_INTEGER = /^-?\d{16,}$/

/** An integer inside a JSON value that a JavaScript number would round. `JSON.stringify` writes its digits. */
class WideInteger {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }

  toJSON() {
    return rawJSON?.(this.digits)
  }
}

const keepDigits: Reviver = (_key, value, context) => {
  const source = context?.source
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value
  return rawJSON && WIDE_INTEGER.test(source) ? new WideInteger(source) : value
}

export const hasWideDigits = (text: string) => /\d{16}/.test(text)

/** Like `JSON.parse`, but integers that a number would round keep their digits. @throws SyntaxError */
export const parseExact = (text: string): unknown =>
  hasWideDigits(text) ? parseWith(text, keepDigits) : JSON.parse(text)

/** Whether a JSON value has an integer that the service does not take inside JSON: one beyond ±(2^53−1). */
export const hasWideInteger = (value: unknown): boolean => {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return false
  return value instanceof WideInteger || Object.values(value).some(hasWideInteger)
}
