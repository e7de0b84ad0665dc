import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { accountQuery, logOut } from '../session/account.ts'
import { PasswordForm } from '../session/password-form.tsx'
import { chooseTheme, THEMES, useTheme } from '../shell/theme.ts'
import { texts } from '../texts/admins.ts'
import { texts as shell } from '../texts/shell.ts'
import { Button } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import styles from './admins.module.css'
import { ProfileForm } from './profile-form.tsx'
import { SessionList } from './session-list.tsx'

const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className={styles.section} aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
)

const ThemeChoice = () => {
  const theme = useTheme()
  return (
    <fieldset className={styles.themes} aria-label={texts.theme}>
      {THEMES.map((name) => (
        <label key={name}>
          <input type="radio" name="theme" checked={name === theme} onChange={() => chooseTheme(name)} />
          {shell.themes[name]}
        </label>
      ))}
    </fieldset>
  )
}

/** One's own account. */
export const AccountPage = () => {
  const { data: account } = useQuery(accountQuery)
  if (!account) return null
  return (
    <Page title={texts.account} sub={account.name}>
      <Section title={texts.profile}>
        <ProfileForm key={`${account.id} ${account.nickname}`} admin={account} />
      </Section>
      <Section title={texts.changePassword}>
        <PasswordForm />
      </Section>
      <Section title={texts.theme}>
        <ThemeChoice />
      </Section>
      <Section title={texts.sessions}>
        <p>{texts.sessionsHint}</p>
        <SessionList />
        <Button onClick={logOut}>{texts.logOut}</Button>
      </Section>
    </Page>
  )
}
