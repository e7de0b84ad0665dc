import { type ReactNode, useState } from 'react'
import { LinkButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { LeaveDialog, useFormGuard } from '../ui/leave-dialog.tsx'
import { Narrow, Page } from '../ui/page.tsx'
import styles from './tokens.module.css'

interface SecretTexts {
  readonly issuedTitle: (name: string) => string
  readonly issuedHint: string
  readonly secret: string
  readonly copySecret: string
  readonly done: string
  readonly leaveTitle: string
  readonly leaveHint: string
  readonly leave: string
}

interface SecretPageProps {
  readonly texts: SecretTexts
  readonly name: string
  readonly secret: string
  /** The path of the list to which the page leads. */
  readonly list: string
  /** Shown below the secret. */
  readonly about: ReactNode
  /** More sections. `keep`: to call when the user has copied the secret from one of them. */
  readonly children?: (keep: () => void) => ReactNode
}

/** Shows a new secret, once. Leaving without a copy needs a confirmation. */
export const SecretPage = ({ texts, name, secret, list, about, children }: SecretPageProps) => {
  const [isCopied, setCopied] = useState(false)
  const guard = useFormGuard(!isCopied)
  const keep = () => setCopied(true)
  return (
    <Page
      title={texts.issuedTitle(name)}
      actions={
        <LinkButton href={list} variant="primary" onClick={guard.release}>
          {texts.done}
        </LinkButton>
      }
    >
      <Narrow>
        <section className={styles.issued} aria-label={texts.secret}>
          <p>{texts.issuedHint}</p>
          <code className={styles.secret} onCopy={keep}>
            {secret}
          </code>
          <div className={styles.row}>
            <CopyButton text={secret} label={texts.copySecret} onCopied={keep} />
          </div>
          {about}
        </section>
        {children?.(keep)}
      </Narrow>
      <LeaveDialog guard={guard} title={texts.leaveTitle} hint={texts.leaveHint} action={texts.leave} />
    </Page>
  )
}
