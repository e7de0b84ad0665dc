export const texts = {
  intro: 'Programs call this table with a token. The examples read it from the environment variable ROWHOUSE_TOKEN.',
  createToken: (table: string) => `Create a token for ${table}`,
  unpublished: 'This table is not published: each call gets the status 404. Publish it under Structure.',
  readOnly: 'Tokens may only read this table: other calls get the status 403.',
  groups: { read: 'Read', write: 'Change records', files: 'Files', several: 'Several tables' },
  contents: 'Calls',
  tryToken: 'Token for “Try it”',
  tryTokenHint: 'It stays on this page only: no cookie, no storage.',
  tryIt: 'Try it',
  closeTry: 'Close',
  path: 'Address',
  body: 'Body',
  send: 'Send',
  sendWrite: (method: string, table: string) =>
    method === 'DELETE' ? `Send, and delete from ${table}` : `Send, and change ${table}`,
  needsToken: 'Paste a token above.',
  needsKey: 'Enter the key of a record at the end of the address.',
  needsPk: 'Enter the key of a record as pk in the body.',
  response: 'Response',
  status: (status: number, text: string, ms: number) => `${status} ${text} · ${ms} ms`,
  cut: (shown: number) => `… only the first ${shown.toLocaleString('en')} characters are shown.`,
  wrongAddress: 'The address must begin with /data/.',
  calls: {
    list: {
      title: 'List',
      text: 'Returns a page of records. Sort with order, search with q, choose fields with fields.'
    },
    read: { title: 'Read one record', text: 'Returns the record of a key. Its ETag is for If-Match of a change.' },
    create: {
      title: 'Create',
      text: 'Creates a record, and returns it. With ?upsert=field, updates the one that has this value.'
    },
    update: { title: 'Update', text: 'Changes the fields that are sent. Other fields stay.' },
    delete: { title: 'Delete', text: 'Deletes the record of a key.' },
    increment: { title: 'Increment', text: 'Adds to a number. Concurrent increments all count.' },
    query: {
      title: 'Query',
      text: 'Finds records by a filter, page after page: send next as cursor for the following page.'
    },
    aggregate: { title: 'Aggregate', text: 'Computes counts, sums, averages, minima and maxima, also for groups.' },
    schema: { title: 'Schema', text: 'Returns the fields and their types.' },
    export: { title: 'Export', text: 'Downloads all records as CSV, or as NDJSON with format=ndjson.' },
    import: { title: 'Import', text: 'Imports a CSV file, all of it or nothing. With dryRun=true, only checks it.' },
    batch: { title: 'Batch', text: 'Makes up to 1,000 changes in one transaction, also of several tables.' }
  }
}
