import t from 'tap'
import { isNetwork } from '../../config.ts'
import { createNetworks } from '../../services/model/networks.ts'

t.test('a network is an address or has CIDR notation', async (t) => {
  for (const text of ['10.0.0.1', '10.0.0.0/8', '10.0.0.0/32', '::1', '2001:db8::/32', '2001:db8::/128'])
    t.ok(isNetwork(text), text)
  for (const text of [
    '',
    '10.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '2001:db8::/129',
    '10.0.0.0/8/8',
    'a.example'
  ])
    t.notOk(isNetwork(text), text)
})

t.test('an address is in a network if it has the same prefix', async (t) => {
  const contains = createNetworks(['10.1.0.0/16', '192.0.2.7', '2001:db8::/32'])
  for (const address of ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', '192.0.2.7', '2001:db8:1::9'])
    t.ok(contains(address), address)
  for (const address of ['10.2.0.0', '192.0.2.8', '::ffff:10.2.2.3', '2001:db9::1', '', 'a.example'])
    t.notOk(contains(address), address)
  t.notOk(createNetworks([])('10.1.0.0'), 'no network has an address')
})
