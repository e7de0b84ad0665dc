import { Autocomplete } from '@base-ui/react/autocomplete'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { tablesQuery } from '../tables/queries.ts'
import { texts } from '../texts/commands.ts'
import { Modal } from '../ui/dialog.tsx'
import { type Command, type CommandGroup, commandGroups, startingFirst } from './commands.ts'
import styles from './palette.module.css'

const MAX_SHOWN = 200

const Group = ({ group, onRun }: { readonly group: CommandGroup; readonly onRun: (command: Command) => void }) => (
  <Autocomplete.Group items={group.items}>
    <Autocomplete.GroupLabel className={styles.label}>{group.label}</Autocomplete.GroupLabel>
    <Autocomplete.Collection>
      {(command: Command) => (
        <Autocomplete.Item key={command.label} value={command} className={styles.item} onClick={() => onRun(command)}>
          <span dir="auto">{command.label}</span>
        </Autocomplete.Item>
      )}
    </Autocomplete.Collection>
  </Autocomplete.Group>
)

interface PaletteProps {
  readonly onClose: () => void
  readonly onHelp: () => void
}

/** Goes to a table or a page, or does something, by a few letters of its name. */
export const Palette = ({ onClose, onHelp }: PaletteProps) => {
  const tables = useQuery(tablesQuery)
  const [text, setText] = useState('')
  const [, navigate] = useLocation()
  // A page that is open already can tell by the state that it is opened again.
  const go = (path: string) => navigate(path, { state: Date.now() })
  const groups = commandGroups({ tables: tables.data ?? [], go, showHelp: onHelp })
  const run = (command: Command) => {
    onClose()
    command.run()
  }
  return (
    <Modal label={texts.title} className={styles.palette} onClose={onClose}>
      <Autocomplete.Root
        inline
        open
        items={startingFirst(groups, text)}
        value={text}
        onValueChange={(value) => setText(value)}
        itemToStringValue={(command: Command) => command.label}
        autoHighlight="always"
        keepHighlight
        limit={MAX_SHOWN}
      >
        <Autocomplete.Input className={styles.input} aria-label={texts.title} placeholder={texts.placeholder} />
        <Autocomplete.Empty className={styles.empty}>{texts.none}</Autocomplete.Empty>
        <Autocomplete.List className={styles.list}>
          {(group: CommandGroup) => <Group key={group.label} group={group} onRun={run} />}
        </Autocomplete.List>
      </Autocomplete.Root>
    </Modal>
  )
}
