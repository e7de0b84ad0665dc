import { Popover } from '@base-ui/react/popover'
import { ArrowDown, ArrowUp, Columns3, Pin, PinOff } from 'lucide-react'
import { keyFields, type Table, type TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/field.tsx'
import styles from './columns-menu.module.css'
import { arrange, type Preferences } from './preferences.ts'

interface ColumnsMenuProps {
  readonly table: Table
  readonly preferences: Preferences
  readonly onPreferences: (changes: Partial<Preferences> | null) => void
  readonly isCompact: boolean
  readonly onCompact: (isCompact: boolean) => void
}

interface ItemProps {
  readonly field: TableField
  readonly isShown: boolean
  readonly isPinned: boolean
  readonly canMove: (by: -1 | 1) => boolean
  readonly onShow: (isShown: boolean) => void
  readonly onPin: (isPinned: boolean) => void
  readonly onMove: (by: -1 | 1) => void
}

const Item = ({ field, isShown, isPinned, canMove, onShow, onPin, onMove }: ItemProps) => {
  const name = field.label || field.name
  return (
    <li className={styles.item}>
      <label>
        <input type="checkbox" checked={isShown} onChange={(event) => onShow(event.target.checked)} />
        <span dir="auto">{name}</span>
      </label>
      <IconButton label={texts.moveUp(name)} disabled={!canMove(-1)} onClick={() => onMove(-1)}>
        <ArrowUp size={13} aria-hidden="true" />
      </IconButton>
      <IconButton label={texts.moveDown(name)} disabled={!canMove(1)} onClick={() => onMove(1)}>
        <ArrowDown size={13} aria-hidden="true" />
      </IconButton>
      <IconButton label={isPinned ? texts.unpin(name) : texts.pin(name)} onClick={() => onPin(!isPinned)}>
        {isPinned ? <PinOff size={13} aria-hidden="true" /> : <Pin size={13} aria-hidden="true" />}
      </IconButton>
    </li>
  )
}

const swapped = (names: readonly string[], index: number, by: -1 | 1) => {
  const other = names[index + by]
  const name = names[index]
  return other === undefined || name === undefined ? names : names.with(index, other).with(index + by, name)
}

const withName = (names: readonly string[], name: string, isIn: boolean) =>
  isIn ? [...names, name] : names.filter((other) => other !== name)

const Items = ({ table, preferences, onPreferences }: Omit<ColumnsMenuProps, 'isCompact' | 'onCompact'>) => {
  const columns = arrange(table.fields, preferences, keyFields(table))
  const names = columns.map(({ field }) => field.name)
  const pinned = columns.filter(({ isPinned }) => isPinned).map(({ field }) => field.name)
  return (
    <ul>
      {columns.map((column, index) => (
        <Item
          key={column.field.name}
          {...column}
          canMove={(by) => columns[index + by]?.isPinned === column.isPinned}
          onShow={(isShown) => onPreferences({ hidden: withName(preferences.hidden, column.field.name, !isShown) })}
          onPin={(isPinned) => onPreferences({ pinned: withName(pinned, column.field.name, isPinned) })}
          onMove={(by) => onPreferences({ order: swapped(names, index, by) })}
        />
      ))}
    </ul>
  )
}

/** Which columns are shown, in which order, and how high rows are. */
export const ColumnsMenu = ({ isCompact, onCompact, ...options }: ColumnsMenuProps) => (
  <Popover.Root>
    <Popover.Trigger
      render={
        <Button variant="quiet">
          <Columns3 size={14} aria-hidden="true" />
          {texts.columns}
        </Button>
      }
    />
    <Popover.Portal>
      <Popover.Positioner sideOffset={4} align="end" className={styles.positioner}>
        <Popover.Popup className={styles.popup}>
          <Popover.Title className={styles.title}>{texts.columns}</Popover.Title>
          <Items {...options} />
          <div className={styles.end}>
            <Checkbox label={texts.compact} checked={isCompact} onChange={(event) => onCompact(event.target.checked)} />
            <Button variant="quiet" onClick={() => options.onPreferences(null)}>
              {texts.resetColumns}
            </Button>
          </div>
        </Popover.Popup>
      </Popover.Positioner>
    </Popover.Portal>
  </Popover.Root>
)
