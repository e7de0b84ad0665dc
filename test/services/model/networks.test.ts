import t from 'tap'
import { createAddressCheck } from '../../../services/model/networks.ts'

t.test('an address is in a network if it has the same prefix', async (t) => {
  const contains = createAddressCheck(['10.1.0.0/16', '192.0.2.7', '2001:db8::/32'])
  for (const address of ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', '192.0.2.7', '2001:db8:1::9'])
    t.ok(contains(address), address)
  for (const address of ['10.2.0.0', '192.0.2.8', '::ffff:10.2.2.3', '2001:db9::1', '', 'a.example'])
    t.notOk(contains(address), address)
  t.notOk(createAddressCheck([])('10.1.0.0'), 'no network has an address')
})
