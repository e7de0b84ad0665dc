/** Packages with native code. They are not bundled, and are the only dependencies of the package that is installed. */
export const NATIVE_PACKAGES = ['argon2', 'better-sqlite3']
