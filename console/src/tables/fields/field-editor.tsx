import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import { texts } from '../../texts/table-fields.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { type FieldDraft, newDraft } from './draft.ts'
import { FieldRow } from './field-row.tsx'
import type { Problems } from './problems.ts'

interface FieldEditorProps {
  readonly drafts: readonly FieldDraft[]
  readonly problems: Problems
  readonly onChange: (drafts: readonly FieldDraft[]) => void
}

/** Returns the list with one item at another place. */
const moved = (drafts: readonly FieldDraft[], from: number, to: number) => {
  const item = drafts[from]
  return item ? drafts.toSpliced(from, 1).toSpliced(to, 0, item) : drafts
}

const Moves = ({ drafts, onChange, index }: Omit<FieldEditorProps, 'problems'> & { readonly index: number }) => {
  const name = drafts[index]?.name ?? ''
  return (
    <>
      <IconButton
        label={texts.up(name)}
        disabled={index === 0}
        onClick={() => onChange(moved(drafts, index, index - 1))}
      >
        <ArrowUp size={14} aria-hidden="true" />
      </IconButton>
      <IconButton
        label={texts.down(name)}
        disabled={index === drafts.length - 1}
        onClick={() => onChange(moved(drafts, index, index + 1))}
      >
        <ArrowDown size={14} aria-hidden="true" />
      </IconButton>
      <IconButton
        label={texts.remove(name)}
        disabled={drafts.length === 1}
        onClick={() => onChange(drafts.toSpliced(index, 1))}
      >
        <X size={14} aria-hidden="true" />
      </IconButton>
    </>
  )
}

/** The fields of a new table: add, remove, and put into order. */
export const FieldEditor = ({ drafts, problems, onChange }: FieldEditorProps) => {
  const change = (index: number, changed: Partial<FieldDraft>) =>
    onChange(drafts.map((draft, at) => (at === index ? { ...draft, ...changed } : draft)))
  return (
    <div>
      {drafts.map((draft, index) => (
        <FieldRow
          key={draft.key}
          draft={draft}
          place={index + 1}
          path={`fields/${index}`}
          problems={problems}
          onChange={(changed) => change(index, changed)}
        >
          <Moves drafts={drafts} onChange={onChange} index={index} />
        </FieldRow>
      ))}
      <Button variant="quiet" onClick={() => onChange([...drafts, newDraft()])}>
        <Plus size={14} aria-hidden="true" />
        {texts.add}
      </Button>
    </div>
  )
}
