/**
 * The documents that clients are generated from. `headers` returns the credential, from what `startService` returns. The
 * generators of a document are those with a folder in `scenarios/<name>/`.
 */
export const documents = [
  { name: 'generic', path: '/openapi.json', headers: () => ({}) },
  {
    name: 'typed',
    path: '/data/_openapi.json',
    headers: ({ tokens }) => ({ authorization: `Bearer ${tokens.main}` })
  }
]
