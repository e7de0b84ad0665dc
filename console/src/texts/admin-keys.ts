import type { components } from '../api/schema.d.ts'

type Scope = components['schemas']['AdminScope']

/** What each scope opens. */
const scopes: Readonly<Record<Scope, string>> = {
  'tables:read': 'Read the registered tables, their indexes and their document',
  'tables:write': 'Create, import, change and drop tables, fields and indexes',
  'records:read': 'Read and export all records, with the hidden fields',
  'records:write': 'Create, update and delete all records',
  tokens: 'Issue, change, rotate, explain, view and revoke tokens',
  roles: 'Create, change and delete roles',
  imports: 'Import files into all tables, and list the imports',
  backups: 'Make, download, restore and delete backups',
  audit: 'Read the audit',
  settings: 'Read and change the settings, and read the state of the service'
}

export const texts = {
  title: 'Admin keys',
  newKey: 'New admin key',
  create: 'Create the admin key',
  emptyTitle: 'There is no admin key yet.',
  empty:
    'Scripts use /admin with an admin key, without a password. Create one for each script, with only the scopes that it needs.',
  columns: {
    name: 'Name',
    prefix: 'Prefix',
    scopes: 'Scopes',
    lastUsed: 'Last used',
    expires: 'Expires'
  },
  actions: 'Actions',
  revokeNamed: (name: string) => `Revoke ${name}`,
  revokeTitle: (name: string) => `Revoke the admin key “${name}”?`,
  revokeHint: (prefix: string) =>
    `Scripts that use ${prefix} get status 401 from their next request on. This cannot be undone.`,
  revokeDo: (name: string) => `Revoke “${name}”`,
  revoked: (name: string) => `The admin key “${name}” is revoked.`,
  name: 'Name',
  nameHint: 'What uses the key, for example “migrations in CI”. The audit shows it.',
  scopesTitle: 'Scopes',
  scopesHint: 'No scope includes another one. A key does not change: for other scopes, create another key.',
  noScope: 'Choose at least one scope.',
  fullAccess: 'With tokens, roles or backups, a key can read and change all records.',
  scopes,
  issuedTitle: (name: string) => `“${name}” is ready`,
  issuedHint: 'Copy the key now. Rowhouse stores only its hash, and shows it only here and only once.',
  secret: 'Admin key',
  copySecret: 'Copy the key',
  done: 'I have copied it',
  leaveTitle: 'Leave without the key?',
  leaveHint: 'You have not copied it, and it is not shown again.',
  leave: 'Leave without it'
}
