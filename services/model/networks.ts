import { BlockList, isIP } from 'node:net'
import { parseNetwork } from '../../schemas/networks.ts'

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
