import { Search } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { texts } from '../texts/commands.ts'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import styles from './layout.module.css'
import { MODIFIER } from './modifier.ts'
import { useShortcut } from './shortcuts.ts'

/** Loaded when they are opened first. */
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const HelpDialog = lazy(async () => ({ default: (await import('./help-dialog.tsx')).HelpDialog }))

/** The button of the command palette, the palette, and the list of shortcuts. */
export const CommandButton = () => {
  const [shown, setShown] = useState<'palette' | 'help'>()
  const isPalette = shown === 'palette'
  useShortcut('Mod+k', () => setShown(isPalette ? undefined : 'palette'), isPalette)
  useShortcut('?', () => setShown('help'))
  const close = () => setShown(undefined)
  return (
    <>
      <button type="button" className={styles.link} onClick={() => setShown('palette')}>
        <Search size={14} aria-hidden="true" />
        {texts.open}
        <kbd className={styles.keys}>{MODIFIER} K</kbd>
      </button>
      <ErrorBoundary key={shown} fallback={null}>
        <Suspense>
          {isPalette && <Palette onClose={close} onHelp={() => setShown('help')} />}
          {shown === 'help' && <HelpDialog onClose={close} />}
        </Suspense>
      </ErrorBoundary>
    </>
  )
}
