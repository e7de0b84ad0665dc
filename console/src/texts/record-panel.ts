/** Texts of the panel of a record. */
export const texts = {
  newRecord: (table: string) => `New record in ${table}`,
  title: (table: string, pk: string) => `${table} ${pk}`,
  shortcut: 'Ctrl+S',
  create: 'Create',
  created: (name: string) => `Created ${name}`,
  saved: (name: string) => `Saved ${name}`,
  duplicate: 'Duplicate',
  hidden: 'Hidden from tokens',
  readOnly: 'Read-only',
  key: 'Key',
  open: (table: string, value: string) => `Open ${value} of ${table}`,
  viewHint: 'A view can only be read.',
  links: 'Records that refer to this one',
  linkOf: (table: string, field: string) => `${table}, by ${field}`,
  errors: (count: number) => (count === 1 ? 'One value is wrong.' : `${count} values are wrong.`),
  discardHint: (name: string) => `You have changed ${name}, and have not saved it.`,
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteAction: (name: string) => `Delete ${name}`,
  deleteHint: 'You can undo it for 10 seconds.',
  deleteForGood: (field: string) =>
    `This cannot be undone, because ${field} has an integer beyond ±9007199254740991. Export the record first if you may need it.`,
  deleteLinksHint:
    'You can undo it for 10 seconds. If a foreign key deletes or changes the records that refer to it, these do not come back.',
  deleted: (name: string) => `Deleted ${name}`,
  undo: 'Undo',
  noRecord: 'The service has not returned the record.',
  restored: (name: string) => `${name} is back`,
  restoreFailed: (name: string) => `${name} could not be created again`
}
