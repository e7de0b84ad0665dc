import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { readPublicKey } from '../../../services/tokens/jwt-keys.ts'

const rsa = (modulusLength: number) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength })
  return {
    public: String(publicKey.export({ type: 'spki', format: 'pem' })),
    private: String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  }
}

t.test('a file must have a public key that is safe', async (t) => {
  const strong = rsa(2048)
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const directory = t.testdir({
    rsa: strong.public,
    ec: String(publicKey.export({ type: 'spki', format: 'pem' })),
    short: rsa(1024).public,
    text: 'no key',
    private: strong.private
  })
  t.equal(readPublicKey(`${directory}/rsa`).asymmetricKeyType, 'rsa')
  t.equal(readPublicKey(`${directory}/ec`).asymmetricKeyType, 'ec')
  t.throws(() => readPublicKey(`${directory}/short`), { message: /short, whose RSA key is shorter than 2048 bits\.$/ })
  for (const name of ['text', 'missing', 'private'])
    t.throws(() => readPublicKey(`${directory}/${name}`), {
      message: new RegExp(`^JWT_PUBLIC_KEY_FILE names .*/${name}, which is no public key in PEM`)
    })
})
