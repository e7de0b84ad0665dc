import { useEffect, useMemo, useRef, useState } from 'react'
import type { AroundNavHandler } from 'wouter'

interface Guard {
  /** Asks whether to leave, and calls `leave` if so. */
  readonly ask: (leave: () => void) => void
  /** Whether nothing is lost on the way from one address to the other. */
  readonly isKept: (to: URL, from: URL) => boolean
  readonly stop: () => void
}

const guards: Guard[] = []

/** The address of the page. When the browser goes back, it changes its own address first. */
let page = new URL(location.href)

const setPage = () => {
  page = new URL(location.href)
}

/** Calls `leave` if the user agrees to lose what each guard protects. */
const askAll = (to: URL, leave: () => void, agreed: readonly Guard[] = []) => {
  const guard = guards.findLast((each) => !agreed.includes(each) && !each.isKept(to, page))
  if (guard) {
    guard.ask(() => askAll(to, leave, [...agreed, guard]))
    return
  }
  for (const { stop } of agreed) stop()
  leave()
}

/** For the router: while something is not saved, a navigation that would lose it asks first. */
export const aroundNav: AroundNavHandler = (navigate, to, options) =>
  askAll(new URL(to, location.href), () => {
    navigate(to, options)
    setPage()
  })

/** Calls `leave`, which ends the page, after asking if something is not saved. */
export const askBeforeLeaving = (leave: () => void) => askAll(new URL('about:blank'), leave)

const askBrowser = (event: BeforeUnloadEvent) => event.preventDefault()

/** The browser has already gone back: returns to the page, and asks. */
const stay = (event: PopStateEvent) => {
  const to = new URL(location.href)
  if (guards.every((guard) => guard.isKept(to, page))) return setPage()
  event.stopImmediatePropagation()
  history.pushState(history.state, '', page)
  askAll(to, () => history.back())
}

// Added before the router's: listeners of the window run in the order in which they were added.
window.addEventListener('popstate', stay)

const remove = (guard: Guard) => {
  const index = guards.indexOf(guard)
  if (index >= 0) guards.splice(index, 1)
  if (guards.length === 0) window.removeEventListener('beforeunload', askBrowser)
}

const watch = (options: Omit<Guard, 'stop'>) => {
  const guard: Guard = { ...options, stop: () => remove(guard) }
  guards.push(guard)
  window.addEventListener('beforeunload', askBrowser)
  return guard.stop
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
export const useLeaveGuard = (isDirty: boolean, isKept: Guard['isKept'] = () => false): LeaveGuard => {
  const [action, setAction] = useState<(() => void) | null>(null)
  const stop = useRef(() => {})
  const latest = useRef(isKept)
  latest.current = isKept
  useEffect(() => {
    if (!isDirty) return
    stop.current = watch({
      ask: (leave) => setAction(() => leave),
      isKept: (to, from) => latest.current(to, from)
    })
    return () => stop.current()
  }, [isDirty])
  return useMemo(() => {
    const leaveBy = (next: () => void) => () => {
      stop.current()
      next()
    }
    return {
      isAsking: action !== null,
      stay: () => setAction(null),
      leave: () => {
        setAction(null)
        action?.()
      },
      ask: (next) => (isDirty ? setAction(() => leaveBy(next)) : next()),
      release: () => stop.current()
    }
  }, [action, isDirty])
}
