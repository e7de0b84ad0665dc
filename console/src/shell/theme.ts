import { useSyncExternalStore } from 'react'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEY = 'rowhouse.theme'
const dark = window.matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

const chosenTheme = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system'

const apply = () => {
  const theme = chosenTheme()
  const isDark = theme === 'dark' || (theme === 'system' && dark.matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
}

/** Shows the chosen theme, or that of the system, and follows its changes. */
export const startTheme = () => {
  apply()
  dark.addEventListener('change', apply)
}

export const chooseTheme = (theme: Theme) => {
  localStorage.setItem(KEY, theme)
  apply()
  for (const listener of listeners) listener()
}

export const useTheme = () =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, chosenTheme)
