const RANDOM_BYTES = 15

/** Returns a password that is easy to type, of 75 random bits: three groups of 5 characters. */
export const generatePassword = () =>
  [...crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))]
    .map((byte) => (byte % 32).toString(32))
    .join('')
    .replaceAll(/.{5}(?=.)/g, '$&-')
