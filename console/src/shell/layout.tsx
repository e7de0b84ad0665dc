import {
  BookOpen,
  DatabaseBackup,
  KeyRound,
  LayoutDashboard,
  Menu as MenuIcon,
  Plus,
  ScrollText,
  ShieldCheck,
  SquareTerminal,
  Users
} from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Link, useLocation, useRoute } from 'wouter'
import { SERVICE_URL } from '../api/client.ts'
import { TableList } from '../tables/table-list.tsx'
import { texts } from '../texts/shell.ts'
import { IconButton } from '../ui/button.tsx'
import { Mark } from '../ui/mark.tsx'
import { AccountMenu } from './account-menu.tsx'
import { CommandButton } from './command-button.tsx'
import styles from './layout.module.css'
import { useShortcut } from './shortcuts.ts'

interface SideLinkProps {
  readonly href: string
  readonly icon: ReactNode
  readonly children: ReactNode
}

const SideLink = ({ href, icon, children }: SideLinkProps) => {
  const [isOpen] = useRoute(href === '/' ? '/' : `${href}/*?`)
  return (
    <Link href={href} className={styles.link} aria-current={isOpen ? 'page' : undefined}>
      {icon}
      {children}
    </Link>
  )
}

const Links = () => (
  <div className={styles.links}>
    <SideLink href="/tables/new" icon={<Plus size={14} aria-hidden="true" />}>
      {texts.newTable}
    </SideLink>
    <SideLink href="/tokens" icon={<KeyRound size={14} aria-hidden="true" />}>
      {texts.tokens}
    </SideLink>
    <SideLink href="/roles" icon={<ShieldCheck size={14} aria-hidden="true" />}>
      {texts.roles}
    </SideLink>
    <SideLink href="/keys" icon={<SquareTerminal size={14} aria-hidden="true" />}>
      {texts.adminKeys}
    </SideLink>
    <SideLink href="/admins" icon={<Users size={14} aria-hidden="true" />}>
      {texts.admins}
    </SideLink>
    <SideLink href="/backups" icon={<DatabaseBackup size={14} aria-hidden="true" />}>
      {texts.backups}
    </SideLink>
    <SideLink href="/audit" icon={<ScrollText size={14} aria-hidden="true" />}>
      {texts.audit}
    </SideLink>
    <a href={`${SERVICE_URL}/docs`} className={styles.link}>
      <BookOpen size={14} aria-hidden="true" />
      {texts.documentation}
    </a>
    <AccountMenu className={styles.link} />
  </div>
)

/** The frame of every page: tables and links at the left, the page at the right. */
export const Layout = ({ children }: { readonly children: ReactNode }) => {
  const [isOpen, setOpen] = useState(false)
  const [location] = useLocation()
  const filter = useRef<HTMLInputElement>(null)
  useShortcut('/', () => {
    // On a narrow screen, the field cannot have the focus before the menu is open.
    flushSync(() => setOpen(true))
    filter.current?.focus()
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: On a narrow screen, the menu closes when a page opens.
  useEffect(() => setOpen(false), [location])
  return (
    <div className={styles.layout}>
      <div className={styles.menu}>
        <IconButton label={texts.openMenu} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <MenuIcon size={18} aria-hidden="true" />
        </IconButton>
        {texts.product}
      </div>
      {isOpen && (
        <button type="button" className={styles.shade} aria-label={texts.closeMenu} onClick={() => setOpen(false)} />
      )}
      <nav className={styles.side} data-open={isOpen} aria-label={texts.tables}>
        <Link href="/" className={styles.brand}>
          <Mark size={18} />
          {texts.product}
        </Link>
        <div className={styles.links}>
          <CommandButton />
          <SideLink href="/" icon={<LayoutDashboard size={14} aria-hidden="true" />}>
            {texts.overview}
          </SideLink>
        </div>
        <TableList filterRef={filter} />
        <Links />
      </nav>
      <main className={styles.main}>{children}</main>
    </div>
  )
}
