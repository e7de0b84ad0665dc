import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { asAdmin, asToken, startApp } from '../../helpers.ts'

const app = await startApp(t)
const admin = await asAdmin(app)
const [token, other] = [await asToken(app, admin), await asToken(app, admin)]
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo

const MIB = 2 ** 20

/** Sends the first bytes of a batch on a new connection. The rest never arrives. */
const sendPart = (bytes: number, sender = token) => {
  const client = connect({ host: '127.0.0.1', port })
  t.teardown(() => client.destroy())
  client.write(
    `POST /data/_batch HTTP/1.1\r\nHost: a\r\nAuthorization: ${sender.headers.authorization}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${bytes + 1}\r\n\r\n`
  )
  client.write(Buffer.alloc(bytes, ' '))
  return client
}

/** Waits for a condition. The time limit of the test ends the wait otherwise. */
const until = async (condition: () => boolean) => {
  while (!condition()) await wait(5)
}

const inMemory = (bytes: number) => until(() => app.largeBodies.total() === bytes)

t.test('one caller may have large bodies of 32 MiB in memory, and another one still sends its own', async (t) => {
  const clients = [sendPart(16 * MIB - 1), sendPart(16 * MIB - 1)]
  await inMemory(32 * MIB - 2)
  // The service has read all of it when it refuses the body. Otherwise, the response could be lost.
  const refused = sendPart(MIB + 1)
  const [response] = await once(refused, 'data')
  t.match(String(response), /^HTTP\/1.1 503 /)
  t.match(String(response), /\r\nretry-after: 1\r\n/)
  await inMemory(32 * MIB - 2)

  clients.push(sendPart(15 * MIB, other))
  await inMemory(47 * MIB - 2)
  t.equal((await token.post('/data/_batch', { operations: [] })).statusCode, 200, 'a small body is not counted')
  for (const client of [...clients, refused]) client.destroy()
  await inMemory(0)
})

t.test('a body is counted until the response to it is sent', async (t) => {
  const client = sendPart(2 * MIB)
  await inMemory(2 * MIB)
  client.write('x')
  t.match(String((await once(client, 'data'))[0]), /^HTTP\/1.1 400 /)
  await inMemory(0)
  client.destroy()
})

t.test('all callers may have large bodies of 64 MiB in memory, and each of them one body', async (t) => {
  const callers = await Promise.all(Array.from({ length: 6 }, () => asToken(app, admin)))
  const clients = callers.slice(1).map((caller) => sendPart(15 * MIB, caller))
  await inMemory(75 * MIB)
  clients.push(sendPart(MIB + 1, callers[1]))
  const [response] = await once(clients.at(-1) as Socket, 'data')
  t.match(String(response), /^HTTP\/1.1 503 /)
  await inMemory(75 * MIB)
  clients.push(sendPart(15 * MIB, callers[0]))
  await inMemory(90 * MIB)
  for (const client of clients) client.destroy()
  await inMemory(0)
})
