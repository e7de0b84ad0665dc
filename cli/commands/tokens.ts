import type { Command } from 'commander'
import type { IssuedToken, Token } from '../../schemas/token.ts'
import { MAX_TOKENS } from '../../schemas/token-list.ts'
import { configOf, withService } from '../connect.ts'
import type { LocalClient } from '../local-client.ts'
import { columns, createPrinter, printWarnings, timeText, UsageError, withHeading } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { addCommand, type CommonOptions, withDatabase } from './options.ts'

interface NewTokenOptions extends CommonOptions {
  readonly tables: string
  readonly actions: string
  readonly expires?: string
}

const splitList = (list: string) => list.split(',').map((name) => name.trim())

/** @throws a UsageError if the text is not a time */
const readTime = (text: string) => {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new UsageError(`--expires must be a date such as 2027-01-31, not '${text}'.`)
  return time
}

const stateOf = ({ is_active, expires_at }: Token) => {
  if (!is_active) return 'inactive'
  return expires_at !== null && expires_at <= Date.now() ? 'expired' : 'active'
}

const rowOf = (token: Token) => [
  token.id,
  token.name,
  stateOf(token),
  token.role ?? '',
  token.permissions.tables.join(','),
  token.permissions.actions.join(','),
  timeText(token.expires_at),
  timeText(token.last_used_at)
]

const HEADING = ['ID', 'NAME', 'STATE', 'ROLE', 'TABLES', 'ACTIONS', 'EXPIRES', 'LAST USED']

const create = (terminal: Terminal) => async (name: string, options: NewTokenOptions) => {
  const { tables, actions, expires } = options
  const token = {
    name,
    permissions: { tables: splitList(tables), actions: splitList(actions) },
    ...(expires !== undefined && { expiresAt: readTime(expires) })
  }
  const issued = (await withService(configOf(terminal, options), (client) =>
    client.call('POST', '/admin/tokens', token)
  )) as IssuedToken
  printWarnings(terminal, options, issued.warnings)
  createPrinter(terminal, options)(issued, [issued.token])
}

/** Reads all pages of the list. */
const readAll = async (client: LocalClient) => {
  const tokens: Token[] = []
  let page: Token[] = []
  do {
    const after = tokens.at(-1)?.id
    page = (await client.call('GET', `/admin/tokens${after === undefined ? '' : `?after=${after}`}`)) as Token[]
    tokens.push(...page)
  } while (page.length === MAX_TOKENS)
  return tokens
}

const list = (terminal: Terminal) => async (options: CommonOptions) => {
  const tokens = await withService(configOf(terminal, options), readAll)
  const lines = columns(HEADING, tokens.map(rowOf))
  createPrinter(terminal, options)(tokens, withHeading(terminal, lines))
}

const revoke = (terminal: Terminal) => async (id: string, options: CommonOptions) => {
  const done = await withService(configOf(terminal, options), (client) =>
    client.call('DELETE', `/admin/tokens/${encodeURIComponent(id)}`)
  )
  createPrinter(terminal, options)(done, [`Token ${id} is revoked.`])
}

export const addTokenCommands = (program: Command, terminal: Terminal) => {
  const tokens = program.command('token').description('issue, list and revoke access tokens')
  const example = 'token create shop --tables products,orders --actions read,create'
  withDatabase(addCommand(tokens, 'create', 'issue a token and print it once', example))
    .argument('<NAME>', 'a name for you; need not be unique')
    .requiredOption('--tables <names>', "names of tables, separated by commas; '*' for all")
    .requiredOption('--actions <names>', 'read, write, create, update, delete, schema; separated by commas')
    .option('--expires <time>', 'when the token expires, such as 2027-01-31 or 2027-01-31T12:00:00Z')
    .action(create(terminal))
  withDatabase(addCommand(tokens, 'list', 'list the tokens', 'token list')).action(list(terminal))
  withDatabase(addCommand(tokens, 'revoke', 'delete a token', 'token revoke 3'))
    .argument('<ID>', 'the id of the token')
    .action(revoke(terminal))
}
