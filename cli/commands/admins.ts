import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import type { AdminAccount } from '../../schemas/admin.ts'
import { randomPassword } from '../../services/accounts/random-password.ts'
import { configOf, withService } from '../connect.ts'
import type { LocalClient } from '../local-client.ts'
import { createPrinter, properties } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { addCommand, type CommonOptions, withDatabase } from './options.ts'

interface PasswordOptions extends CommonOptions {
  readonly passwordStdin?: true
}

interface NewAdminOptions extends PasswordOptions {
  readonly nickname?: string
}

interface ChosenPassword {
  readonly password: string
  readonly isGenerated: boolean
}

/** Returns the first line of standard input, or a random password. */
const choosePassword = async ({ stdin }: Terminal, { passwordStdin }: PasswordOptions): Promise<ChosenPassword> => {
  if (!passwordStdin) return { password: randomPassword(), isGenerated: true }
  const [line = ''] = (await text(stdin)).split(/\r?\n/)
  return { password: line, isGenerated: false }
}

const print = (terminal: Terminal, options: CommonOptions, account: object, chosen: ChosenPassword) => {
  const shown = chosen.isGenerated ? { ...account, password: chosen.password } : account
  createPrinter(terminal, options)(shown, properties(shown))
}

const create = (terminal: Terminal) => async (name: string, options: NewAdminOptions) => {
  const chosen = await choosePassword(terminal, options)
  const { nickname } = options
  const body = { name, password: chosen.password, ...(nickname !== undefined && { nickname }) }
  const created = (await withService(configOf(terminal, options), (client) =>
    client.call('POST', '/admin/admins', body)
  )) as AdminAccount
  print(terminal, options, { id: created.id, name: created.name }, chosen)
}

/** @throws an Error if there is no administrator of this name. Names are compared as in a login. */
const findAdmin = async (client: LocalClient, name: string) => {
  const accounts = (await client.call('GET', '/admin/admins')) as AdminAccount[]
  const account = accounts.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (account) return account
  const names = accounts.map((one) => one.name).join(', ') || 'none yet'
  throw new Error(`There is no administrator named '${name}'. Administrators: ${names}.`)
}

const resetPassword = (terminal: Terminal) => async (name: string, options: PasswordOptions) => {
  const chosen = await choosePassword(terminal, options)
  const account = await withService(configOf(terminal, options), async (client) => {
    const found = await findAdmin(client, name)
    await client.call('PUT', `/admin/admins/${found.id}`, { password: chosen.password })
    return found
  })
  print(terminal, options, { id: account.id, name: account.name }, chosen)
}

export const addAdminCommands = (program: Command, terminal: Terminal) => {
  const admins = program.command('admin').description('create administrators, and reset lost passwords')
  const passwordStdin = ['--password-stdin', 'read the password from standard input, instead of a random one'] as const
  withDatabase(addCommand(admins, 'create', 'create an administrator', 'admin create ann --nickname Ann'))
    .argument('<NAME>', 'the name for the login')
    .option('--nickname <text>', 'the name that others see')
    .option(...passwordStdin)
    .action(create(terminal))
  const description = 'set a new password, and end all sessions of the administrator'
  withDatabase(addCommand(admins, 'reset-password', description, 'admin reset-password ann'))
    .argument('<NAME>', 'the name of the administrator')
    .option(...passwordStdin)
    .action(resetPassword(terminal))
}
