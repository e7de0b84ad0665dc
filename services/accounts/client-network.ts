import { isIPv6, SocketAddress } from 'node:net'

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/
/** Some proxies tell the port, which a client may choose. Of an IPv6 address, brackets set it apart. */
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$|^\[(.+)\](?::\d+)?$/
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
export const networkOf = (client: string): string => {
  const [, ipv4, ipv6] = WITH_PORT.exec(client) ?? []
  const address = ipv4 ?? ipv6 ?? client
  if (!isIPv6(address)) return address
  const [withoutZone = ''] = address.split('%')
  const spelled = new SocketAddress({ address: withoutZone, family: 'ipv6' }).address
  const groups = expand(spelled).slice(0, GROUPS_OF_A_NETWORK)
  return MAPPED_IPV4.exec(spelled)?.[1] ?? groups.join(':')
}
