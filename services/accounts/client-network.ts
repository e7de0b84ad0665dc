import { isIPv6, SocketAddress } from 'node:net'

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/
/** Some proxies add the port, which the client can choose. IPv6 addresses with a port are in brackets. */
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$|^\[(.+)\](?::\d+)?$/
const GROUPS = 8
const NETWORK_GROUPS = 4

const split = (part: string) => (part === '' ? [] : part.split(':'))

/** Returns the groups of an IPv6 address, with zeros in place of `::`. */
const expand = (address: string) => {
  const [head = '', tail] = address.split('::')
  const left = split(head)
  if (tail === undefined) return left
  const right = split(tail)
  return [...left, ...Array<string>(GROUPS - left.length - right.length).fill('0'), ...right]
}

/** Returns the address of a client without the port that a proxy may have added, and without a zone. */
export const addressOf = (client: string): string => {
  const [, ipv4, ipv6] = WITH_PORT.exec(client) ?? []
  const [address = ''] = (ipv4 ?? ipv6 ?? client).split('%')
  return address
}

/**
 * Returns the text that identifies a client. An IPv6 client usually has 2^64 addresses (RFC 4291, 2.5.1), so its /64
 * network identifies it. Any other address identifies itself.
 */
export const networkOf = (client: string): string => {
  const address = addressOf(client)
  if (!isIPv6(address)) return address
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address
  const network = expand(canonical).slice(0, NETWORK_GROUPS)
  return MAPPED_IPV4.exec(canonical)?.[1] ?? network.join(':')
}
