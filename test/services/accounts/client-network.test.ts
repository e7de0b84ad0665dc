import t from 'tap'
import { networkOf } from '../../../services/accounts/client-network.ts'

t.test('an IPv4 address is its own network', async (t) => {
  t.equal(networkOf('192.0.2.7'), '192.0.2.7')
})

t.test('an IPv4-mapped IPv6 address is the same client as the IPv4 address', async (t) => {
  for (const client of ['::ffff:192.0.2.7', '::FFFF:c000:0207', '0:0:0:0:0:ffff:c000:207'])
    t.equal(networkOf(client), '192.0.2.7', client)
  t.not(networkOf('::ffff:c000:0208'), '192.0.2.7')
})

t.test('a port that a proxy adds does not change the client', async (t) => {
  for (const client of ['192.0.2.7:1', '192.0.2.7:65535', '::ffff:192.0.2.7', '[::ffff:192.0.2.7]:443'])
    t.equal(networkOf(client), '192.0.2.7', client)
  for (const client of ['[2001:db8:1:2::1]:443', '[2001:db8:1:2::1]', '2001:db8:1:2::1'])
    t.equal(networkOf(client), '2001:db8:1:2', client)
  t.not(networkOf('192.0.2.8:1'), networkOf('192.0.2.7:1'))
})

t.test('IPv6 addresses in one /64 are one client', async (t) => {
  t.equal(networkOf('2001:db8:1:2::1'), '2001:db8:1:2')
  t.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
})

t.test('IPv6 addresses in two /64 are two clients', async (t) => {
  t.not(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
})

t.test('all notations of an IPv6 address are one client', async (t) => {
  t.equal(networkOf('2001:0DB8::1'), networkOf('2001:db8:0:0::1'))
  t.equal(networkOf('::1'), '0:0:0:0')
  t.equal(networkOf('fe80::1%eth0'), networkOf('fe80::1'))
})

t.test('text that is not an address identifies itself', async (t) => {
  t.equal(networkOf('unknown'), 'unknown')
})
