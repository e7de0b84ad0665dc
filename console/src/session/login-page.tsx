import { useEffect } from 'react'
import { texts } from '../texts/session.ts'
import { Mark } from '../ui/mark.tsx'
import { CredentialsForm } from './credentials-form.tsx'
import styles from './login-page.module.css'

export const LoginPage = () => {
  useEffect(() => {
    document.title = texts.title
  }, [])
  return (
    <main className={styles.page}>
      <div className={styles.mark}>
        <Mark size={32} />
      </div>
      <h1>{texts.title}</h1>
      <CredentialsForm />
      <p className={styles.hint}>{texts.firstStart}</p>
    </main>
  )
}
