import { SERVICE_URL } from '../api/client.ts'
import { texts } from '../texts/snippets.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Segments } from '../ui/segments.tsx'
import type { Call } from './call.ts'
import { chooseLanguage, useLanguage } from './language.ts'
import { LANGUAGES, WRITERS } from './languages.ts'
import styles from './snippet.module.css'

/** The choice of the language of all snippets. */
export const LanguageChoice = () => {
  const language = useLanguage()
  return (
    <Segments
      label={texts.language}
      options={LANGUAGES.map((name) => ({ value: name, label: texts.languages[name] }))}
      value={language}
      onChange={chooseLanguage}
    />
  )
}

interface CodeProps {
  readonly label: string
  readonly text: string
  readonly onCopied?: () => void
}

/** A text to read or to copy, such as a program. */
export const Code = ({ label, text, onCopied }: CodeProps) => (
  <div className={styles.code}>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: What scrolls must be reachable by the keyboard. */}
    <section className={styles.text} aria-label={label} tabIndex={0}>
      <pre>{text}</pre>
    </section>
    <div className={styles.copy}>
      <CopyButton text={text} {...(onCopied && { onCopied })} />
    </div>
  </div>
)

/** A program that sends a call, in the chosen language. */
export const Snippet = ({ label, call }: { readonly label: string; readonly call: Call }) => {
  const language = useLanguage()
  return <Code label={`${label}, ${texts.languages[language]}`} text={WRITERS[language](call, SERVICE_URL)} />
}
