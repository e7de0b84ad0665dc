const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const
const STEP = 1000

const decimal = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** Returns a number of bytes in words: "1.2 MB". */
export const formatBytes = (bytes: number) => {
  const power = bytes < STEP ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(STEP)))
  return `${decimal.format(bytes / STEP ** power)} ${UNITS[power]}`
}

/** Returns an integer with separators: "1,000,000". */
export const formatCount = (count: number) => new Intl.NumberFormat('en').format(count)
