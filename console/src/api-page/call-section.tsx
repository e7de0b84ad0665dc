import { useState } from 'react'
import { Snippet } from '../snippets/snippet.tsx'
import { texts } from '../texts/api-page.ts'
import { Button } from '../ui/button.tsx'
import styles from './api-page.module.css'
import type { TableCall } from './calls.ts'
import { TryIt } from './try-it.tsx'

interface CallSectionProps {
  readonly call: TableCall
  readonly table: string
  readonly token: string
}

/** One call: what it does, a program that sends it, and a form that sends it from here. */
export const CallSection = ({ call, table, token }: CallSectionProps) => {
  const [isOpen, setOpen] = useState(false)
  const { title, text } = texts.calls[call.name]
  const action = isOpen ? texts.closeTry : texts.tryIt
  return (
    <section className={styles.call} id={call.name} aria-label={title}>
      <header className={styles.head}>
        <h3>{title}</h3>
        <code className={styles.method}>{call.method}</code>
        <Button aria-expanded={isOpen} aria-label={`${action}: ${title}`} onClick={() => setOpen(!isOpen)}>
          {action}
        </Button>
      </header>
      <p className={styles.text}>{text}</p>
      <Snippet label={title} call={call} />
      {isOpen && <TryIt call={call} table={table} token={token} />}
    </section>
  )
}
