const SCHEME = 'bearer '

/** Returns the credential of an Authorization header. The scheme ignores case, spaces follow it (RFC 9110, 11.4). */
export const bearerOf = (header: string): string | undefined =>
  header.slice(0, SCHEME.length).toLowerCase() === SCHEME ? header.slice(SCHEME.length).trimStart() : undefined
