import { useEffect, useRef } from 'react'

/** A plain key that is pressed in a cell begins an edit. */
const EDITABLE = 'input, textarea, select, [contenteditable="true"], [role="grid"]'

const isTyping = ({ target }: KeyboardEvent) => target instanceof Element && target.closest(EDITABLE) !== null

const isPressed = (event: KeyboardEvent, shortcut: string) => {
  const [key, modifier] = shortcut.split('+').reverse()
  const hasModifier = event.ctrlKey || event.metaKey
  return event.key.toLowerCase() === key?.toLowerCase() && hasModifier === (modifier === 'Mod') && !event.altKey
}

/** Whether a dialog is open over the page. The panel of a record is none: the page beside it stays usable. */
const isCovered = () => document.querySelector('[data-modal]') !== null

/**
 * Calls `run` for a key, such as `/` or `Mod+k` (Ctrl, or Command on a Mac). A plain key does nothing in a text field.
 * While a dialog is open over the page, only the shortcut of this dialog (`isOfDialog`) runs.
 */
export const useShortcut = (shortcut: string, run: () => void, isOfDialog = false) => {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!isPressed(event, shortcut) || (!shortcut.includes('+') && isTyping(event))) return
      event.preventDefault()
      if (isOfDialog || !isCovered()) latest.current()
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [shortcut, isOfDialog])
}
