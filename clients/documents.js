/**
 * The documents that clients are generated from. Each has a folder in `scenarios/`, with a folder for each generator.
 * `token`: the access token whose document it is, as `service.js` names it.
 */
export const documents = [{ name: 'generic', path: '/openapi.json' }]
