import { useEffect, useMemo, useRef, useState } from 'react'
import type { AroundNavHandler } from 'wouter'

interface Guard {
  /** Asks whether to leave, and calls `leave` if so. */
  readonly ask: (leave: () => void) => void
  /** Whether nothing is lost at this address. */
  readonly isKeptAt: (to: string) => boolean
  /** The address of the page. */
  readonly href: string
}

const guards: Guard[] = []

const remove = (guard: Guard) => {
  const index = guards.indexOf(guard)
  if (index >= 0) guards.splice(index, 1)
}

/** For the router: while something is not saved, every navigation asks first. */
export const aroundNav: AroundNavHandler = (navigate, to, options) => {
  const guard = guards.at(-1)
  if (!guard || guard.isKeptAt(to)) navigate(to, options)
  else guard.ask(() => navigate(to, options))
}

/** Calls `leave`, after asking if something is not saved. */
export const askBeforeLeaving = (leave: () => void) => {
  const guard = guards.at(-1)
  if (guard) guard.ask(leave)
  else leave()
}

const askBrowser = (event: BeforeUnloadEvent) => event.preventDefault()

/** The browser has already gone back: returns to the page, and asks. */
const stay = (event: PopStateEvent) => {
  const guard = guards.at(-1)
  if (!guard) return
  event.stopImmediatePropagation()
  history.pushState(history.state, '', guard.href)
  guard.ask(() => history.back())
}

// Added before the router's: listeners of the window run in the order in which they were added.
window.addEventListener('popstate', stay)

const watch = (guard: Guard) => {
  guards.push(guard)
  window.addEventListener('beforeunload', askBrowser)
  return () => {
    remove(guard)
    window.removeEventListener('beforeunload', askBrowser)
  }
}

export interface LeaveGuard {
  /** Whether the user has to decide. The component then shows a dialog. */
  readonly isAsking: boolean
  readonly stay: () => void
  readonly leave: () => void
  /** Calls `action`, after asking if something is not saved. */
  readonly ask: (action: () => void) => void
  /** Lets the next navigation pass: everything is saved now. */
  readonly release: () => void
}

/** While `isDirty`, links, the back button and the closing of the window ask before the user loses what is not saved. */
export const useLeaveGuard = (isDirty: boolean, isKeptAt: Guard['isKeptAt'] = () => false): LeaveGuard => {
  const [action, setAction] = useState<(() => void) | null>(null)
  const stop = useRef(() => {})
  const latest = useRef(isKeptAt)
  latest.current = isKeptAt
  useEffect(() => {
    if (!isDirty) return
    stop.current = watch({
      ask: (leave) => setAction(() => leave),
      isKeptAt: (to) => latest.current(to),
      href: location.href
    })
    return () => stop.current()
  }, [isDirty])
  return useMemo(
    () => ({
      isAsking: action !== null,
      stay: () => setAction(null),
      leave: () => {
        stop.current()
        setAction(null)
        action?.()
      },
      ask: (next) => (isDirty ? setAction(() => next) : next()),
      release: () => stop.current()
    }),
    [action, isDirty]
  )
}
