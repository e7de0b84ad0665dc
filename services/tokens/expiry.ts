import { invalid } from '../model/errors.ts'

/** Seconds of the years 2001 to 5138. In milliseconds, these numbers are dates between 1970 and 1973. */
const looksLikeSeconds = (time: number) => time >= 1e9 && time <= 1e11

/** @throws VALIDATION_FAILED for seconds instead of milliseconds */
export const checkExpiry = (expiresAt: number | null | undefined) => {
  if (expiresAt == null || !looksLikeSeconds(expiresAt)) return
  const message = `'expiresAt' must be in milliseconds; ${expiresAt} looks like seconds.`
  throw invalid([{ path: '/expiresAt', code: 'range', message }], `In milliseconds, it is ${expiresAt * 1000}.`)
}

/** @throws VALIDATION_FAILED as `checkExpiry` does, and for a time in the past */
export const checkNewExpiry = (expiresAt: number | null | undefined, now: number) => {
  checkExpiry(expiresAt)
  if (expiresAt == null || expiresAt > now) return
  const message = `'expiresAt' must be in the future; ${expiresAt} is ${new Date(expiresAt).toISOString()}.`
  throw invalid([{ path: '/expiresAt', code: 'range', message }])
}
