import { texts } from '../texts/commands.ts'
import { Button } from '../ui/button.tsx'
import { Actions, Dialog } from '../ui/dialog.tsx'
import { MODIFIER } from './modifier.ts'
import styles from './palette.module.css'

/** All shortcuts of the console. */
export const HelpDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title={texts.helpTitle} onClose={onClose}>
    <dl className={styles.keys}>
      {texts.shortcuts.map(({ keys, does }) => (
        <div key={does} className={styles.pair}>
          <dt>
            {keys.map((key) => (
              <kbd key={key}>{key === 'Mod' ? MODIFIER : key}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
    <Actions>
      <Button onClick={onClose}>{texts.close}</Button>
    </Actions>
  </Dialog>
)
