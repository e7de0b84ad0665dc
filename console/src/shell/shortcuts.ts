import { useEffect, useRef } from 'react'

/** A plain key that is pressed in a cell begins an edit. */
const EDITABLE = 'input, textarea, select, [contenteditable="true"], [role="grid"]'

const isTyping = ({ target }: KeyboardEvent) => target instanceof Element && target.closest(EDITABLE) !== null

const isPressed = (event: KeyboardEvent, shortcut: string) => {
  const [key, modifier] = shortcut.split('+').reverse()
  const hasModifier = event.ctrlKey || event.metaKey
  return event.key.toLowerCase() === key?.toLowerCase() && hasModifier === (modifier === 'Mod') && !event.altKey
}

/** Calls `run` for a key, such as `/` or `Mod+k` (Ctrl, or Command on a Mac). A plain key does nothing in a text field. */
export const useShortcut = (shortcut: string, run: () => void) => {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!isPressed(event, shortcut) || (!shortcut.includes('+') && isTyping(event))) return
      event.preventDefault()
      latest.current()
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [shortcut])
}
