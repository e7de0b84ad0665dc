import { BlockList, isIP } from 'node:net'

interface Network {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  /** Bits that all addresses of the network share. */
  readonly prefix: number
}

/** Returns the network of an address, or of CIDR notation such as 10.0.0.0/8; null for other text. */
const parseNetwork = (text: string): Network | null => {
  const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return null
  const bits = version === 4 ? 32 : 128
  const shared = Number(prefix ?? bits)
  // A prefix of 0 would contain every address.
  return shared < 1 || shared > bits ? null : { address, family: version === 4 ? 'ipv4' : 'ipv6', prefix: shared }
}

/** Accepts an address, or a network in CIDR notation. */
export const isNetwork = (text: string) => parseNetwork(text) !== null

/** Returns whether an address, without a port or a zone, is in one of the networks. */
export type ContainsAddress = (address: string) => boolean

/** Returns the check for networks that `isNetwork` accepts. An IPv4 address in the notation of IPv6 is the same address. */
export const createNetworks = (networks: readonly string[]): ContainsAddress => {
  const list = new BlockList()
  for (const text of networks) {
    const network = parseNetwork(text)
    if (network) list.addSubnet(network.address, network.prefix, network.family)
  }
  return (address) => {
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }
}
