import { formatCount } from '../ui/size.ts'

interface ActionGroup {
  /** The name of the filter that finds all of the group. Left out: the group is not one of the service. */
  readonly all?: { readonly action: string; readonly name: string }
  readonly label: string
  readonly actions: Readonly<Record<string, string>>
}

/** Every action of the audit. The service filters by an action, or by the word before its dot. */
const groups: readonly ActionGroup[] = [
  {
    label: 'Logins',
    all: { action: 'login', name: 'Logins: all' },
    actions: { login: 'Logged in', 'login.failed': 'Login failed' }
  },
  {
    label: 'Sessions',
    actions: { logout: 'Logged out', 'session.end': 'Session ended', 'password.change': 'Password changed' }
  },
  {
    label: 'Tokens',
    all: { action: 'token', name: 'Tokens: all' },
    actions: {
      'token.issue': 'Token created',
      'token.change': 'Token changed',
      'token.rotate': 'Token secret replaced',
      'token.revoke': 'Token revoked',
      'token.view': 'Token viewed'
    }
  },
  {
    label: 'Roles',
    all: { action: 'role', name: 'Roles: all' },
    actions: { 'role.create': 'Role created', 'role.change': 'Role changed', 'role.delete': 'Role deleted' }
  },
  {
    label: 'Admin keys',
    all: { action: 'key', name: 'Admin keys: all' },
    actions: { 'key.issue': 'Admin key created', 'key.revoke': 'Admin key revoked' }
  },
  {
    label: 'Tables',
    all: { action: 'table', name: 'Tables: all' },
    actions: {
      'table.create': 'Table created',
      'table.adopt': 'Table imported',
      'table.change': 'Table changed',
      'table.rename': 'Table renamed',
      'table.refresh': 'Table refreshed',
      'table.unregister': 'Table unregistered',
      'table.drop': 'Table dropped'
    }
  },
  {
    label: 'Fields',
    all: { action: 'field', name: 'Fields: all' },
    actions: { 'field.add': 'Field added', 'field.change': 'Field changed', 'field.drop': 'Field dropped' }
  },
  {
    label: 'Indexes',
    all: { action: 'index', name: 'Indexes: all' },
    actions: { 'index.create': 'Index created', 'index.drop': 'Index dropped' }
  },
  {
    label: 'Search indexes',
    all: { action: 'search-index', name: 'Search indexes: all' },
    actions: { 'search-index.create': 'Search index switched on', 'search-index.drop': 'Search index switched off' }
  },
  { label: 'Records', actions: { import: 'File imported', export: 'Exported' } },
  {
    label: 'Administrators',
    all: { action: 'admin', name: 'Administrators: all' },
    actions: {
      'admin.create': 'Administrator added',
      'admin.change': 'Administrator changed',
      'admin.reset-password': 'Password reset',
      'admin.delete': 'Administrator deleted'
    }
  },
  {
    label: 'Backups',
    all: { action: 'backup', name: 'Backups: all' },
    actions: {
      'backup.create': 'Backup made',
      'backup.upload': 'Backup uploaded',
      'backup.download': 'Backup downloaded',
      'backup.delete': 'Backup deleted',
      'backup.restore': 'Backup restored'
    }
  },
  { label: 'Settings', actions: { 'settings.change': 'Settings changed' } }
]

const NAMES: ReadonlyMap<string, string> = new Map(groups.flatMap(({ actions }) => Object.entries(actions)))

/** A newer service may have further actions. */
const actionOf = (action: string, count: number) => {
  const name = NAMES.get(action) ?? action
  return count === 1 ? name : `${name} ${formatCount(count)} times`
}

export const texts = {
  title: 'Audit',
  listHint:
    'Who changed what, the latest first. Changes of single records are not listed. AUDIT_KEEP says when rows are deleted.',
  columns: {
    time: 'Time',
    caller: 'Caller',
    action: 'Action',
    target: 'Target',
    summary: 'Details',
    address: 'Address'
  },
  /** Labels beside the name of the caller. */
  callerKinds: {
    admin: '',
    token: 'token',
    key: 'admin key',
    anonymous: 'not logged in',
    service: 'the service',
    local: 'a command on its machine'
  },
  groups,
  actionOf,
  allActions: 'All actions',
  filters: 'Filters',
  action: 'Action',
  caller: 'Caller',
  target: 'Target',
  nameHint: 'The whole name',
  from: 'From',
  to: 'Before',
  download: 'Download as NDJSON',
  none: 'Nothing matches.',
  removeFilters: 'Remove the filters',
  more: 'Show more',
  yes: 'yes',
  no: 'no',
  nothing: 'none',
  facts: {
    id: 'Row',
    time: 'Time',
    caller: 'Caller',
    address: 'Address',
    request: 'Request',
    action: 'Action',
    target: 'Target',
    count: 'Times'
  },
  callerId: (kind: string, id: number) => (id === 0 ? `(${kind})` : `(${kind}, id ${id})`),
  withId: (name: string, id: number | null) => (id === null ? name : `${name} (id ${id})`)
}
