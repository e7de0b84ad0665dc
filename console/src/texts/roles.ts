import type { components } from '../api/schema.d.ts'
import { formatCount } from '../ui/size.ts'
import { texts as tokens } from './tokens.ts'

type Action = Exclude<components['schemas']['TokenAction'], 'write'>
type FieldList = 'read' | 'write'

const counted = (count: number, one: string, many: string) =>
  count === 1 ? `1 ${one}` : `${formatCount(count)} ${many}`

const list = new Intl.ListFormat('en', { type: 'conjunction' })

const EVERY_TABLE = 'all other tables'

/** "Read and create in Album and all other tables". */
const grantScope = (tables: readonly string[], actions: readonly Action[]) =>
  tables.length === 0
    ? 'Opens nothing yet'
    : tokens.scope(
        tables.map((name) => (name === '*' ? EVERY_TABLE : name)),
        actions
      )

export const texts = {
  title: 'Roles',
  role: 'Role',
  newRole: 'New role',
  create: 'Create the role',
  emptyTitle: 'There is no role yet.',
  empty:
    'A role opens some rows and some fields of tables. Many tokens can have one role, each with values of its own for the rules.',
  columns: { name: 'Name', grants: 'Grants', tokens: 'Tokens', warnings: 'Warnings' },
  actions: 'Actions',
  moreWarnings: (count: number) => `and ${formatCount(count)} more`,
  edit: (name: string) => `Edit ${name}`,
  delete: 'Delete',
  deleteNamed: (name: string) => `Delete ${name}`,
  deleteTitle: (name: string) => `Delete the role “${name}”?`,
  deleteHint: (tokens: number) =>
    tokens === 0
      ? 'No token has the role. This cannot be undone.'
      : `${counted(tokens, 'token has', 'tokens have')} the role. Revoke ${tokens === 1 ? 'it' : 'them'}, or give ${tokens === 1 ? 'it' : 'them'} another role first.`,
  deleteDo: (name: string) => `Delete “${name}”`,
  deleted: (name: string) => `The role “${name}” is deleted.`,
  saved: (name: string) => `The role “${name}” is saved.`,
  notFound: 'There is no such role.',
  toRoles: 'All roles',
  newToken: 'New token with the role',
  tokens: (count: number) => counted(count, 'token', 'tokens'),
  name: 'Name',
  nameHint: 'Tokens name their role by it, for example “customer”.',
  grants: 'Grants',
  grantsHint:
    'Each grant opens tables for actions. For each table and action one grant applies: one that names the table, or else one for all other tables.',
  grant: (place: number) => `Grant ${place}`,
  grantScope,
  whereRows: (sentence: string) => `where ${sentence}`,
  someRows: 'some rows',
  someFields: 'some fields',
  withPresets: (fields: readonly string[]) => `sets ${list.format(fields)} in new records`,
  addGrant: 'Grant',
  duplicateGrant: (place: number) => `Duplicate grant ${place} for other tables`,
  removeGrant: (place: number) => `Remove grant ${place}`,
  tables: 'Tables',
  tablesHint: 'Names of tables, also of those that do not exist yet. * stands for all other tables, but no SQL view.',
  tablesMissing: 'Add a table.',
  everyTable: EVERY_TABLE,
  everyTableHint: 'without a grant of their own',
  unregistered: tokens.unregistered,
  namePlaceholder: 'Choose or type a name',
  addName: 'Add',
  removeName: (name: string) => `Remove ${name}`,
  actionsLabel: 'Actions',
  actionsOf: (place: number) => `Actions of grant ${place}`,
  actionsMissing: 'Choose an action.',
  rows: 'Rows',
  rowsChoice: 'Which rows',
  rowsModes: { all: 'All rows', conditions: 'Rows that match conditions', json: 'JSON' },
  rowsJson: 'Rule as JSON',
  rowsJsonHint:
    'A filter: where, all, any, none, and via for foreign keys. {"$claim": "name"} stands for a claim of the token.',
  onlyJson: 'The conditions cannot show all of this rule, so it is edited as JSON.',
  noFields: 'Add a registered table to choose conditions on its fields.',
  noCondition: 'Add a condition to each group, or choose all rows.',
  notJson: (reason: string) => `This is not JSON: ${reason}`,
  notRule: 'A rule is a JSON object, such as {"where": {"state": {"eq": "open"}}}.',
  noPart: (name: string) => `“${name}” is no part of a rule. Use where, via, all, any and none.`,
  notWhere: '“where” needs an object of conditions for each field, such as {"state": {"eq": "open"}}.',
  notVia: '“via” needs a rule for each foreign key, such as {"order_id": {"where": …}}.',
  notList: (name: string) => `“${name}” needs a list of rules: [ … ].`,
  fields: 'Fields',
  field: 'Field',
  fieldLists: { read: 'Can be read', write: 'Can be set' },
  allFields: { read: 'All fields can be read', write: 'All fields can be set' },
  fieldIn: (name: string, kind: FieldList) => (kind === 'read' ? `${name} can be read` : `${name} can be set`),
  otherFields: { read: 'Further fields that can be read', write: 'Further fields that can be set' },
  otherFieldsHint: 'Fields of tables that are not registered now. A table without one of them is closed.',
  keyField: 'key, can always be read',
  hiddenField: 'hidden from tokens',
  readonlyField: 'read-only',
  presetField: 'set by a preset',
  unknownField: 'no such field now',
  presets: 'Presets',
  presetsHint: 'Values that each new record gets. The token cannot send these fields.',
  presetsUnused: 'Presets need the action create.',
  fieldOfPreset: (place: number) => `Field of preset ${place}`,
  presetSource: (place: number) => `Source of preset ${place}`,
  presetValue: (place: number) => `Value of preset ${place}`,
  presetSources: { value: 'a value', claim: 'a claim of the token', json: 'JSON' },
  presetPlaceholders: { value: 'Value', claim: 'Name of the claim', json: 'null' },
  choose: 'Choose',
  true: 'true',
  false: 'false',
  addPreset: 'Preset',
  removePreset: (field: string) => `Remove the preset ${field}`,
  presetFieldMissing: 'Enter the name of a field.',
  presetText: 'No chosen table has this field, so the value is a text. For other values, choose JSON.',
  presetTwice: (field: string) => `Another preset sets ${field}.`,
  claimMissing: 'Enter the name of the claim.',
  overview: 'What the role opens',
  overviewHint: 'The number of the grant that applies to each table and action.',
  matrix: 'Grants by table and action',
  legend: { whole: 'all rows and fields', partial: 'some rows or fields', closed: 'opens nothing' },
  cell: (place: number, limits: readonly string[]) => [`Grant ${place}`, ...limits].join(', '),
  closedCell: (place: number, reason: string) => `Grant ${place} opens nothing: ${reason}`,
  noField: (name: string) => `the table has no field ${name}.`,
  noForeignKey: (fields: string) => `the table has no foreign key ${fields}.`
}
