import type { components } from '../api/schema.d.ts'

type Action = components['schemas']['TokenAction']

const MAX_NAMED = 3
const list = new Intl.ListFormat('en', { type: 'conjunction' })

const named = (tables: readonly string[]) =>
  tables.length <= MAX_NAMED
    ? list.format(tables)
    : list.format([...tables.slice(0, MAX_NAMED), `${tables.length - MAX_NAMED} more`])

const isRecordAction = (action: Action) => action !== 'schema'

/** "Read and create in Album and Artist". */
const scope = (tables: readonly string[] | 'all', actions: readonly Action[]) => {
  if (actions.length === 0 || tables.length === 0) return 'Nothing'
  const verbs = list.format(actions.map((action) => (action === 'schema' ? 'change the schema' : action)))
  return `${verbs[0]?.toUpperCase()}${verbs.slice(1)} in ${tables === 'all' ? 'all tables' : named(tables)}`
}

const records = (actions: readonly Action[]) => {
  const verbs = actions.filter(isRecordAction)
  return verbs.length === 0 ? 'no records' : `${list.format(verbs)} records`
}

/** Says what a token may do, in whole sentences. */
const sentence = (tables: readonly string[] | 'all', actions: readonly Action[]) => {
  if (tables.length === 0) return 'This token may do nothing yet: choose tables.'
  if (actions.length === 0) return 'This token may do nothing yet: choose actions.'
  const where = tables === 'all' ? 'in all tables, also in those that are published later' : `in ${list.format(tables)}`
  const schema = tables === 'all' ? 'It may create tables and add fields.' : 'It may create and extend these tables.'
  const first = actions.some(isRecordAction) ? `This token may ${records(actions)} ${where}.` : ''
  return [first, actions.includes('schema') && schema].filter(Boolean).join(' ')
}

const MAX_VALUES = 5

const valueText = (value: unknown): string => {
  if (!Array.isArray(value)) return typeof value === 'string' ? `“${value}”` : JSON.stringify(value)
  const [shown, others] = [value.slice(0, MAX_VALUES).map(valueText), value.length - MAX_VALUES]
  return [...shown, ...(others > 0 ? [`${others} more`] : [])].join(', ')
}

/** "customer: 17; regions: “north”, “south”". */
const claimsOf = (claims: Readonly<Record<string, unknown>>) =>
  Object.entries(claims)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join('; ')

export const texts = {
  title: 'Tokens',
  token: 'Token',
  newToken: 'New token',
  create: 'Create the token',
  search: 'Search by name, prefix or role',
  noMatch: 'No token matches.',
  showAll: 'Show all tokens',
  more: 'Show more',
  count: (shown: number, hasMore: boolean) => (hasMore ? `${shown}+` : shown),
  uses: 'Use in the last 90 days',
  usesHint: 'Days in UTC, the latest first. Only days with use.',
  noUses: 'No request used the token in this time.',
  useColumns: { day: 'Day', requests: 'Requests', refused: 'Refused', failed: 'Failed' },
  useHint: 'Refused: status 401, 403 or 429. Failed: status 500 or more.',
  emptyTitle: 'There is no token yet.',
  empty: 'Programs use /data with a token. Create one for each program, with only the permissions that it needs.',
  columns: {
    name: 'Name',
    prefix: 'Prefix',
    scope: 'May',
    lastUsed: 'Last used',
    expires: 'Expires',
    active: 'Active'
  },
  actions: 'Actions',
  isActive: (name: string) => `${name} is active`,
  notChanged: (name: string) => `${name} was not changed.`,
  edit: (name: string) => `Edit ${name}`,
  revoke: 'Revoke',
  revokeNamed: (name: string) => `Revoke ${name}`,
  revokeTitle: (name: string) => `Revoke the token “${name}”?`,
  revokeHint: (prefix: string) =>
    `Programs that use ${prefix} get status 401 from their next request on. This cannot be undone: to pause the token, switch it off.`,
  revokeDo: (name: string) => `Revoke “${name}”`,
  revoked: (name: string) => `The token “${name}” is revoked.`,
  saved: (name: string) => `The token “${name}” is saved.`,
  notFound: 'There is no such token.',
  toTokens: 'All tokens',
  name: 'Name',
  nameHint: 'What uses the token, for example “web shop”.',
  expires: 'Expires',
  expiresHint: 'In your local time. Empty: never.',
  expiryPresets: 'Expiry in',
  presets: [
    { label: 'Never', days: null },
    { label: '1 day', days: 1 },
    { label: '30 days', days: 30 },
    { label: '90 days', days: 90 },
    { label: '1 year', days: 365 }
  ],
  integers: 'Integers in responses',
  integersHint: 'JavaScript reads integers beyond ±(2^53−1) inexactly.',
  integerForms: {
    auto: 'auto: a number, but text beyond ±(2^53−1)',
    number: 'number: always a number, for Go, Java, Python, Rust and C#',
    string: 'string: always text, for JavaScript'
  },
  limits: 'Limits',
  requests: 'Requests',
  requestsHint: 'How many the token can send. Empty: any number. A batch counts as one for each operation.',
  window: 'In each',
  windows: [
    { seconds: '1', label: 'second' },
    { seconds: '60', label: 'minute' },
    { seconds: '3600', label: 'hour' },
    { seconds: '86400', label: 'day' }
  ],
  otherWindow: (seconds: string) => `${seconds} seconds`,
  networks: 'Networks',
  networksHint:
    'One for each line, such as 10.0.0.0/8. From elsewhere the token gets status 401. Empty: from anywhere.',
  rotate: 'Replace secret',
  rotateTitle: (name: string) => `Replace the secret of “${name}”?`,
  rotateHint: 'The token keeps everything else. Programs need the new secret before the previous secret ends.',
  overlap: 'The previous secret works',
  overlapHint: 'If others know the previous secret, end it now.',
  overlaps: [
    { seconds: '3600', label: 'for one more hour' },
    { seconds: '86400', label: 'for one more day' },
    { seconds: '604800', label: 'for seven more days' },
    { seconds: '0', label: 'not at all: it ends now' }
  ] as const,
  rotateDo: 'Replace the secret',
  previousSecret: (time: string) => `The previous secret works until ${time}.`,
  access: 'Access',
  accessBy: 'What the token opens',
  accessKinds: { permissions: 'Permissions', role: 'Role' },
  permissionsHint: 'The actions apply to all chosen tables. For other actions in other tables, create a second token.',
  role: 'Role',
  roleHint: 'Many tokens can have one role.',
  chooseRole: 'Choose a role',
  showRole: (name: string) => `Show ${name}`,
  toRoles: 'All roles',
  roleUses: (claims: readonly string[]) =>
    claims.length === 0 ? 'The role uses no claim.' : `The role uses the claims: ${claims.join(', ')}.`,
  hasRole: (role: string) => `Role ${role}`,
  roleSentence: (role: string, claims: Readonly<Record<string, unknown>>) => {
    const given = claimsOf(claims)
    const first = `This token may do what the role “${role}” allows, also after a change of the role.`
    return given === '' ? first : `${first} Its claims: ${given}.`
  },
  missingClaims: (names: readonly string[]) =>
    names.length === 1
      ? `The token has no claim ${names[0]}. What needs it opens nothing.`
      : `The token has no claims ${list.format(names)}. What needs them opens nothing.`,
  addMissing: 'Add the missing claims',
  claims: 'Claims',
  claimsHint: 'The values that the rules of the role use for this token. A rule whose claim is missing opens nothing.',
  claimsOf,
  claimName: (place: number) => `Name of claim ${place}`,
  claimNameShort: 'Name',
  claimKind: (place: number) => `Type of claim ${place}`,
  claimValue: (place: number) => `Value of claim ${place}`,
  claimValueShort: 'Value',
  claimLines: 'One value for each line',
  claimKinds: {
    text: 'text',
    integer: 'integer',
    texts: 'list of texts',
    integers: 'list of integers',
    json: 'JSON'
  },
  addClaim: 'Claim',
  removeClaim: (name: string) => `Remove the claim ${name}`,
  claimNameMissing: 'Enter the name of the claim.',
  claimTwice: (name: string) => `Another claim is named ${name}.`,
  claimEmpty: 'Enter a value, or remove the claim. For an empty text, choose JSON and enter "".',
  notInteger: 'Enter integers from −9007199254740991 to 9007199254740991.',
  notJson: 'This is not JSON.',
  notClaim: 'A claim is a text, an integer, or a list of at most 100 of them.',
  matrix: 'Tables and actions of the token',
  table: 'Table',
  allTables: 'All tables',
  allTablesHint: 'also those that are published later',
  unpublished: 'not published',
  unregistered: 'no such table now',
  readOnlyTable: 'read-only for tokens',
  isView: 'a view',
  allowed: 'allowed',
  notAllowed: 'not allowed',
  actionNames: {
    read: 'read',
    create: 'create',
    update: 'update',
    delete: 'delete',
    schema: 'schema'
  },
  actionHints: {
    read: 'List and read records, read the schema',
    create: 'Create records',
    update: 'Update and increment records',
    delete: 'Delete records',
    schema: 'Create tables, add fields'
  },
  bundles: 'Choose actions',
  bundleNames: { read: 'Read only', records: 'Read and write records', all: 'Everything' },
  scope,
  sentence,
  issuedTitle: (name: string) => `“${name}” is ready`,
  issuedHint: 'Copy the token now. Rowhouse stores only its hash, and shows it only here and only once.',
  secret: 'Token',
  copySecret: 'Copy the token',
  done: 'I have copied it',
  leaveTitle: 'Leave without the token?',
  leaveHint: 'You have not copied it, and it is not shown again.',
  leave: 'Leave without it',
  firstCall: 'First call',
  environmentLabel: 'Environment variable',
  environment: 'Put the token into the environment of your program. The calls below read it there.',
  snippetTable: 'Table',
  document: 'Typed client',
  documentHint: 'The token has an OpenAPI document of its own: its tables, with the types of their fields.',
  openDocs: 'Read it in the API documentation',
  openDocsHint: 'Paste the token there to see its own document.'
}
