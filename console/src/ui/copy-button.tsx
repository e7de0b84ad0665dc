import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { texts } from '../texts/common.ts'
import { Button } from './button.tsx'
import { notify } from './toast.tsx'

const SHOWN_MS = 2000

/** Browsers have no clipboard for pages that came over plain HTTP from another machine. They may still copy a selection. */
const copySelection = (text: string) => {
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  const { activeElement } = document
  // A dialog keeps the focus inside itself.
  const place = activeElement?.parentElement ?? document.body
  place.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (activeElement instanceof HTMLElement) activeElement.focus()
  return isCopied
}

/** Copies a text to the clipboard. Returns false if the browser does not allow it. */
const copyText = async (text: string) => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelection(text)
  }
}

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
  readonly onCopied?: () => void
}

/** Copies a text to the clipboard, and says so for two seconds. */
export const CopyButton = ({ text, label = texts.copy, onCopied }: CopyButtonProps) => {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    if (!(await copyText(text))) return notify({ title: texts.notCopied, description: texts.copyYourself })
    setCopied(true)
    onCopied?.()
    setTimeout(() => setCopied(false), SHOWN_MS)
  }
  const Icon = isCopied ? Check : Copy
  return (
    <Button onClick={copy}>
      <Icon size={14} aria-hidden="true" />
      <span aria-live="polite">{isCopied ? texts.copied : label}</span>
    </Button>
  )
}
