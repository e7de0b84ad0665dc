import { logOut } from '../session/account.ts'
import { type Table, titleOf } from '../tables/queries.ts'
import { texts } from '../texts/commands.ts'
import { texts as shell } from '../texts/shell.ts'
import { chooseTheme, THEMES } from './theme.ts'

export interface Command {
  readonly label: string
  readonly run: () => void
}

export interface CommandGroup {
  readonly label: string
  readonly items: readonly Command[]
}

interface Surroundings {
  readonly tables: readonly Table[]
  readonly go: (path: string) => void
  readonly showHelp: () => void
}

const PAGES = [
  ['/', texts.overview],
  ['/tokens', texts.tokens],
  ['/roles', texts.roles],
  ['/keys', texts.adminKeys],
  ['/admins', texts.admins],
  ['/backups', texts.backups],
  ['/audit', texts.audit],
  ['/account', texts.account]
] as const

const FORMS = [
  ['/tables/new', texts.newTable],
  ['/tables/import', texts.importTables],
  ['/tables/from-file', texts.fromFile],
  ['/tokens/new', texts.newToken],
  ['/roles/new', texts.newRole],
  ['/keys/new', texts.newAdminKey]
] as const

/** Returns the groups with the commands first whose labels start with the text: Enter runs the first one that matches. */
export const startingFirst = (groups: readonly CommandGroup[], text: string): readonly CommandGroup[] => {
  const start = text.trim().toLocaleLowerCase()
  const isStart = ({ label }: Command) => label.toLocaleLowerCase().startsWith(start)
  if (start === '') return groups
  return groups.map(({ label, items }) => ({
    label,
    items: [...items.filter(isStart), ...items.filter((item) => !isStart(item))]
  }))
}

/** Everything that the command palette offers. */
export const commandGroups = ({ tables, go, showHelp }: Surroundings): readonly CommandGroup[] => {
  const link = ([path, label]: readonly [string, string]) => ({ label, run: () => go(path) })
  const themes = THEMES.map((name) => ({ label: texts.theme(shell.themes[name]), run: () => chooseTheme(name) }))
  const actions = [{ label: texts.help, run: showHelp }, ...themes, { label: texts.logOut, run: logOut }]
  const views = tables.flatMap((table) => [
    link([`/tables/${table.id}/structure`, texts.structure(titleOf(table))]),
    link([`/tables/${table.id}/api`, texts.api(titleOf(table))])
  ])
  return [
    { label: texts.groups.tables, items: tables.map((table) => link([`/tables/${table.id}`, titleOf(table)])) },
    { label: texts.groups.pages, items: PAGES.map(link) },
    { label: texts.groups.actions, items: [...FORMS.map(link), ...actions] },
    { label: texts.groups.views, items: views }
  ].filter(({ items }) => items.length > 0)
}
