import { useRef, useState } from 'react'
import { useShortcut } from '../../shell/shortcuts.ts'
import { texts } from '../../texts/records-grid.ts'
import { Button } from '../../ui/button.tsx'
import { Form } from '../../ui/form.tsx'
import styles from './status-bar.module.css'

interface GoToProps {
  readonly total: number
  readonly onGo: (row: number) => void
}

/** Takes a row number, counted from 1. */
const GoTo = ({ total, onGo }: GoToProps) => {
  const [text, setText] = useState('')
  const input = useRef<HTMLInputElement>(null)
  useShortcut('Mod+g', () => input.current?.select())
  return (
    <Form
      onSubmit={() => {
        const row = Number(text)
        if (text !== '' && Number.isInteger(row)) onGo(Math.max(1, Math.min(row, total)) - 1)
      }}
    >
      <label className={styles.goTo}>
        {texts.goTo}
        <input
          ref={input}
          inputMode="numeric"
          value={text}
          title={`${texts.goToRange(total)} · ${texts.goToHint}`}
          placeholder={texts.goToHint}
          onChange={(event) => setText(event.target.value.replace(/\D/g, ''))}
        />
      </label>
    </Form>
  )
}

interface UnsavedCountProps {
  /** Number of cells that could not be saved. */
  readonly failed: number
  readonly onDiscard: () => void
}

/** The cells may be outside of what the grid shows. */
const UnsavedCount = ({ failed, onDiscard }: UnsavedCountProps) =>
  failed > 0 && (
    <span className={styles.failed}>
      {texts.unsaved(failed)}
      <Button variant="quiet" onClick={onDiscard}>
        {texts.discardUnsaved}
      </Button>
    </span>
  )

interface StatusBarProps extends GoToProps, UnsavedCountProps {
  readonly isFiltered: boolean
  readonly first: number
  readonly visible: number
  /** Why records cannot be changed. */
  readonly readOnly: string | undefined
}

/** How many records there are, which of them are visible, and a way to another one. */
export const StatusBar = ({ total, isFiltered, first, visible, readOnly, onGo, ...unsaved }: StatusBarProps) => (
  <footer className={styles.bar}>
    <span role="status">{isFiltered ? texts.matching(total) : texts.records(total)}</span>
    {total > 0 && <span className={styles.rows}>{texts.rows(first + 1, Math.min(first + visible, total))}</span>}
    {readOnly !== undefined && <span className={styles.rows}>{readOnly}</span>}
    <UnsavedCount {...unsaved} />
    <div className={styles.end}>
      <GoTo total={total} onGo={onGo} />
    </div>
  </footer>
)
