import { isIPv6 } from 'node:net'

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const GROUPS = 8
const GROUPS_OF_A_NETWORK = 4

const split = (part: string) => (part === '' ? [] : part.split(':'))

const expand = (address: string) => {
  const [head = '', tail] = address.split('::')
  const left = split(head)
  if (tail === undefined) return left
  const right = split(tail)
  return [...left, ...Array<string>(GROUPS - left.length - right.length).fill('0'), ...right]
}

/**
 * What counts as one client. An IPv6 client usually has 2^64 addresses to choose from (RFC 4291, 2.5.1), so its /64
 * network counts; any other address counts as itself.
 */
export const networkOf = (address: string): string => {
  const mapped = MAPPED_IPV4.exec(address)?.[1]
  if (mapped) return mapped
  if (!isIPv6(address)) return address
  const groups = expand(address).slice(0, GROUPS_OF_A_NETWORK)
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}
