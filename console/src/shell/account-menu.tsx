import { useQuery } from '@tanstack/react-query'
import { Check, CircleUser } from 'lucide-react'
import { useLocation } from 'wouter'
import { accountQuery, logOut } from '../session/account.ts'
import { texts } from '../texts/shell.ts'
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx'
import styles from './layout.module.css'
import { chooseTheme, THEMES, useTheme } from './theme.ts'

/** The menu of one's own account: profile, theme, log out. */
export const AccountMenu = ({ className }: { readonly className: string | undefined }) => {
  const account = useQuery(accountQuery)
  const theme = useTheme()
  const [, navigate] = useLocation()
  const trigger = (
    <button type="button" className={className}>
      <CircleUser size={14} aria-hidden="true" />
      <span className={styles.name}>{account.data?.nickname || account.data?.name}</span>
    </button>
  )
  return (
    <Menu trigger={trigger}>
      <MenuItem onSelect={() => navigate('/account')}>{texts.account}</MenuItem>
      <MenuSeparator />
      {THEMES.map((name) => (
        <MenuItem key={name} onSelect={() => chooseTheme(name)}>
          {`${texts.theme}: ${texts.themes[name]}`}
          {name === theme && <Check size={14} aria-hidden="true" />}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={logOut}>{texts.logOut}</MenuItem>
    </Menu>
  )
}
