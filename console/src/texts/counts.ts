import { formatCount } from '../ui/size.ts'

/** "1 record", "2,000 records". */
export const records = (count: number) => (count === 1 ? '1 record' : `${formatCount(count)} records`)
