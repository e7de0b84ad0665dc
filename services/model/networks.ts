import { BlockList, isIP } from 'node:net'

/** Returns whether an address, without a port or a zone, is in one of the networks. */
export type AddressCheck = (address: string) => boolean

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6')

/** Returns the check for networks that `isNetwork` accepts. An IPv4 address in the notation of IPv6 is the same address. */
export const createAddressCheck = (networks: readonly string[]): AddressCheck => {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    if (prefix === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}
