import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'

export const REQUEST_ID_HEADER = 'x-request-id'

/** Printable ASCII without spaces: valid in a header, and one word in a line of a log. */
const REQUEST_ID = /^[!-~]{1,128}$/

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** Returns a function that checks whether an address is in a list of addresses and networks. */
const createTrust = (networks: string) => {
  const list = new BlockList()
  for (const network of networks.split(',')) {
    const [address = '', prefix] = network.trim().split('/')
    if (prefix === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return (address: string) => list.check(address, familyOf(address))
}

/**
 * Returns the `genReqId` option of Fastify. Ids are UUIDs, so they are unique across restarts. The X-Request-Id of a
 * trusted proxy is used instead if it is valid.
 * @param proxies addresses or networks, comma-separated; empty for none
 */
export const createRequestIds = (proxies: string) => {
  if (proxies === '') return () => randomUUID()
  const isTrusted = createTrust(proxies)
  return ({ headers, socket: { remoteAddress = '' } }: IncomingMessage): string => {
    const id = String(headers[REQUEST_ID_HEADER])
    return REQUEST_ID_HEADER in headers && REQUEST_ID.test(id) && isTrusted(remoteAddress) ? id : randomUUID()
  }
}
