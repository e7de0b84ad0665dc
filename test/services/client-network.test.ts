import t from 'tap'
import { networkOf } from '../../services/client-network.ts'

t.test('an IPv4 address is its own network', async (t) => {
  t.equal(networkOf('192.0.2.7'), '192.0.2.7')
})

t.test('an IPv4 address mapped into IPv6 is the IPv4 address', async (t) => {
  t.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7')
})

t.test('IPv6 addresses of one /64 are one network', async (t) => {
  t.equal(networkOf('2001:db8:1:2::1'), '2001:db8:1:2')
  t.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
})

t.test('IPv6 addresses of two /64 are two networks', async (t) => {
  t.not(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
})

t.test('all spellings of an IPv6 address are one network', async (t) => {
  t.equal(networkOf('2001:0DB8::1'), networkOf('2001:db8:0:0::1'))
  t.equal(networkOf('::1'), '0:0:0:0')
})

t.test('what is no address counts as itself', async (t) => {
  t.equal(networkOf('unknown'), 'unknown')
})
