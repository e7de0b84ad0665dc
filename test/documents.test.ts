import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PASSWORD, temporaryDirectory } from './fixtures.ts'
import { type Service, startService } from './service-process.ts'
import { createShop } from './shop-app.ts'

/** The address in the documents. */
const ADDRESS = 'http://127.0.0.1:3000'
const STOP = "printf '\\n%s\\n' ==end=="

interface Block {
  readonly language: string
  readonly content: string
}

const blocksIn = (text: string): Block[] =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', content = '']) => ({
    language,
    content
  }))

const blocksOf = (file: string) => blocksIn(readFileSync(file, 'utf8'))

/** Replaces values that differ in each run: tokens, passwords, request ids and times. */
const normalise = (output: string) =>
  output
    .replaceAll(/rh_[0-9a-f]{64}|rh_[0-9a-f]+…/g, 'rh_…')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/\b1[789]\d{11}\b/g, 'TIME')
    .replaceAll(/(?<=^ {2}password {2})\S+$/gm, 'PASSWORD')
    .replaceAll('\r\n', '\n')
    .trim()

/** Returns a pattern for a documented output. `…` stands for any text. */
const patternOf = (output: string) =>
  new RegExp(
    `^${normalise(output)
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^]*?')}$`
  )

const startShop = (t: Test, directory: string, env: Record<string, string | undefined> = {}) =>
  startService(t, { DATABASE: join(directory, 'shop.sqlite'), ...env })

/** The commands of the README after the first: they log in, import all tables, issue a token and read a record. */
const FIRST_STEPS = blocksOf('README.md').slice(2, 10)

/** Runs the `sh` blocks one after the other in one shell, and returns the output of each. */
const runInShell = (blocks: readonly Block[], { address }: Service, cwd: string, password: string) => {
  const commands = blocks.filter(({ language }) => language === 'sh').map(({ content }) => content)
  const script = commands
    .flatMap((command) => [command, STOP])
    .join('\n')
    .replaceAll(ADDRESS, address)
    .replaceAll('the password from above', password)
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script.replaceAll('curl ', 'curl -sS -w "\\n" ')], {
    cwd,
    encoding: 'utf8'
  })
  if (status !== 0 || stderr !== '') throw new Error(stderr)
  return stdout.split('\n==end==\n')
}

/** Compares the output of each command with the block after it, if that is an output. */
const compare = (t: Test, blocks: readonly Block[], outputs: string[]) => {
  for (const [index, { language, content }] of blocks.entries()) {
    if (language !== 'sh') continue
    const output = normalise(outputs.shift() ?? '').replaceAll(/\n+/g, '\n')
    const next = blocks[index + 1]
    if (next && next.language !== 'sh') t.match(output, patternOf(next.content), content)
    else t.notMatch(output, /"success":false/, content)
  }
}

t.test('the first commands of the README print what it shows', async (t) => {
  const directory = temporaryDirectory(t)
  const [start, printed, ...blocks] = blocksOf('README.md')
  t.equal(start?.content, 'npm ci && npm run shop && DATABASE=shop.sqlite npm start\n')
  const created = createShop(directory)
  const service = await startShop(t, directory, { ADMIN_PASSWORD: undefined })
  const npm = '> rowhouse@…'
  const output = [npm, created, npm, 'Building Rowhouse, about a minute …', npm, ...service.lines].join('\n')
  t.match(
    normalise(output.replaceAll(service.address, ADDRESS)).replaceAll(/\n+/g, '\n'),
    patternOf(String(printed?.content).replaceAll(/\n+/g, '\n'))
  )
  const password = String(/password {2}(\S+)/.exec(output)?.[1])
  const commands = blocks.filter(({ content }) => !content.startsWith('npm '))
  compare(t, commands, runInShell(commands, service, directory, password))
})

t.test('the second run of the example database changes nothing', async (t) => {
  const directory = temporaryDirectory(t)
  t.equal(createShop(directory), 'Created shop.sqlite.\n')
  t.equal(createShop(directory), 'shop.sqlite exists already.\n')
})

for (const name of ['adopt', 'tables', 'records', 'change', 'query', 'import', 'access']) {
  t.test(`the commands of the guide ${name} print what it shows`, async (t) => {
    const directory = temporaryDirectory(t)
    createShop(directory)
    // Applies as soon as the guide creates the role.
    const service = await startShop(t, directory, { PUBLIC_ROLE: 'catalogue' })
    const blocks = blocksOf(`docs/guides/${name}.md`)
    const outputs = runInShell([...FIRST_STEPS, ...blocks], service, directory, PASSWORD)
    compare(t, blocks, outputs.slice(FIRST_STEPS.filter(({ language }) => language === 'sh').length))
  })
}

t.test('the command that reads the metrics prints what the page shows', async (t) => {
  const directory = temporaryDirectory(t)
  createShop(directory)
  const METRICS_TOKEN = 'a-token-for-metrics'
  const service = await startShop(t, directory, { METRICS_TOKEN })
  const [section = ''] = /^## Collect metrics$.*?(?=^## )/ms.exec(readFileSync('docs/operations.md', 'utf8')) ?? []
  const setting = { language: 'sh', content: `METRICS_TOKEN=${METRICS_TOKEN}` }
  const steps = [...FIRST_STEPS, setting]
  const blocks = blocksIn(section)
  const outputs = runInShell([...steps, ...blocks], service, directory, PASSWORD)
  compare(t, blocks, outputs.slice(steps.filter(({ language }) => language === 'sh').length))
})

/** The documents for users and developers. */
const documents = [
  ...readdirSync('.').filter((path) => path.endsWith('.md')),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path))
]

/** The anchor that GitHub gives to a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

const headingsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

t.test('each link between the documents leads to a file, and to a heading of it', async (t) => {
  for (const document of documents) {
    for (const [, target = '', anchor] of readFileSync(document, 'utf8').matchAll(
      /\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g
    )) {
      const file = target === '' ? document : join(document, '..', target)
      t.ok(readdirSync(join(file, '..')).includes(file.split('/').at(-1) as string), `${document}: ${target}`)
      if (anchor !== undefined) t.ok(headingsOf(file).includes(anchor), `${document}: ${target}#${anchor}`)
    }
  }
})

t.test('each link by a name has one address, and each address is used', async (t) => {
  const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name).toSorted()
  for (const document of documents) {
    const text = readFileSync(document, 'utf8').replaceAll(/`[^`]*`/g, '')
    const used = new Set(namesIn(text, /\]\[([\w-]+)\]/g))
    t.strictSame(namesIn(text, /^\[([\w-]+)\]: https:\/\/\S+$/gm), [...used], document)
  }
})

t.test('the guide and the examples have the versions of the generators that CI checks', async (t) => {
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const { go, python } = read('clients/versions.json')
  const { dependencies } = read('clients/package.json')
  const guide = readFileSync('docs/guides/clients.md', 'utf8')
  for (const [name, version] of Object.entries(go)) t.ok(guide.includes(`${name}@${version}`), name)
  const client = 'openapi-python-client'
  t.ok(guide.includes(`${client}==${python[client]}`), client)
  for (const name of ['@hey-api/openapi-ts', 'openapi-typescript'])
    t.ok(guide.includes(`${name}@${dependencies[name]}`), name)
  t.match(dependencies, read('examples/hey-api/package.json').devDependencies)
})
