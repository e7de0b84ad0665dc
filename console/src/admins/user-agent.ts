/** Chrome's header also names Safari, and Edge's names both: the first match counts. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari']
]

/** Android's header also names Linux, and iOS names Mac OS X. */
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux']
]

const find = (patterns: typeof BROWSERS, userAgent: string) =>
  patterns.find(([pattern]) => pattern.test(userAgent))?.[1]

/** Returns the browser and its system ("Firefox on Linux"), else the name of the program ("curl"), else undefined. */
export const describeClient = (userAgent: string): string | undefined => {
  const browser = find(BROWSERS, userAgent)
  if (!browser) return /^[^\s/]+/.exec(userAgent)?.[0]
  const system = find(SYSTEMS, userAgent)
  return system ? `${browser} on ${system}` : browser
}
