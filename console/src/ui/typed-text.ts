import { useEffect, useRef, useState } from 'react'

const TYPING_MS = 250

/**
 * The text of an input, which `onPause` gets when the user pauses. A `value` that has changed by another way, such as a
 * link, replaces the text. `onPause` must not change in each rendering.
 */
export const useTypedText = (value: string, onPause: (text: string) => void) => {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  useEffect(() => {
    if (value !== sent.current) setText(value)
    sent.current = value
  }, [value])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      onPause(text)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text, onPause])
  return [text, setText] as const
}
