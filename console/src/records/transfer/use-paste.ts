import { useEffect, useRef } from 'react'

const EDITABLE = 'input, textarea, select, [contenteditable="true"], [role="dialog"]'

/** Where a paste belongs: the browser names the selected text or the body, even if a cell of the grid has the focus. */
const placesOf = ({ target }: ClipboardEvent) =>
  [target, document.activeElement].filter((place) => place instanceof Element)

/** One column of a spreadsheet has no tabs. Elsewhere than in the grid, its lines may be any text. */
export const hasRows = (text: string, isInGrid: boolean) =>
  text.includes('\t') || (isInGrid && /[\r\n]/.test(text.trim()))

/** Calls `onPaste` with rows of a spreadsheet that are pasted on the page, but not into an input or a dialog. */
export const usePastedRows = (onPaste: (text: string) => void) => {
  const latest = useRef(onPaste)
  latest.current = onPaste
  useEffect(() => {
    const listen = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text/plain') ?? ''
      const places = placesOf(event)
      if (places.some((place) => place.closest(EDITABLE))) return
      const isInGrid = places.some((place) => place.closest('[role="grid"]'))
      if (!hasRows(text, isInGrid)) return
      event.preventDefault()
      latest.current(text)
    }
    document.addEventListener('paste', listen)
    return () => document.removeEventListener('paste', listen)
  }, [])
}
