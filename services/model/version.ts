/** The version of Rowhouse and of its API. `npm run release` compares it with package.json. */
export const API_VERSION = '0.1.0'
