import { isIP } from 'node:net'

export interface Network {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  /** Bits that all addresses of the network share. */
  readonly prefix: number
}

/** Returns the network of an address, or of CIDR notation such as 10.0.0.0/8; null for other text. */
export const parseNetwork = (text: string): Network | null => {
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
