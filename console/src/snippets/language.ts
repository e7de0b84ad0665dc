import { useSyncExternalStore } from 'react'
import { LANGUAGES, type Language } from './languages.ts'

const KEY = 'rowhouse.language'
const listeners = new Set<() => void>()

const chosen = (): Language => LANGUAGES.find((language) => language === localStorage.getItem(KEY)) ?? 'curl'

export const chooseLanguage = (language: Language) => {
  localStorage.setItem(KEY, language)
  for (const listener of listeners) listener()
}

/** The language that the user reads: one choice for all pages. */
export const useLanguage = () =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, chosen)
