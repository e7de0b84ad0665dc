import { useEffect, useRef } from 'react'

const EDITABLE = 'input, textarea, select, [contenteditable="true"], [role="dialog"]'

/** Calls `onPaste` with rows of a spreadsheet that are pasted on the page, but not into an input or a dialog. */
export const usePastedRows = (onPaste: (text: string) => void) => {
  const latest = useRef(onPaste)
  latest.current = onPaste
  useEffect(() => {
    const listen = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text/plain') ?? ''
      const isElsewhere = event.target instanceof Element && event.target.closest(EDITABLE) !== null
      if (isElsewhere || !text.includes('\t')) return
      event.preventDefault()
      latest.current(text)
    }
    document.addEventListener('paste', listen)
    return () => document.removeEventListener('paste', listen)
  }, [])
}
