const MODULES = new URL('../services/engine/', import.meta.url).href
/** What `npm start` runs: `npm run build` makes it from the same sources. */
const BUNDLES = new URL('../../dist/', import.meta.url).href

/** Returns the URL of the bundle of a thread or process of the engine, and any other file or text unchanged. */
export const bundleOf = (file: string | URL) =>
  String(file).startsWith(MODULES) ? new URL(String(file).replace(MODULES, BUNDLES)) : file
