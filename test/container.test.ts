import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'

/** Returns the instructions of a Dockerfile by stage. Joins continued lines. */
const readStages = (file: string) => {
  const lines = readFileSync(file, 'utf8')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const stages: (readonly [instruction: string, rest: string])[][] = []
  for (const line of lines) {
    const [, instruction = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
    if (instruction === 'FROM') stages.push([])
    stages.at(-1)?.push([instruction, rest])
  }
  return stages.map((stage) => ({
    all: (name: string) => stage.filter(([instruction]) => instruction === name).map(([, rest]) => rest),
    last: (name: string) => stage.findLast(([instruction]) => instruction === name)?.[1]
  }))
}

const [build, image] = readStages('Dockerfile')
const ignored = readFileSync('.dockerignore', 'utf8').split('\n')
const { services, volumes } = parse(readFileSync('docker-compose.yml', 'utf8'))
const service = services.rowhouse

t.test('the package is built with the lock file, and the image has what it installs', async (t) => {
  t.match(build?.last('FROM'), /^node:26-bookworm AS build$/)
  t.match(build?.all('RUN'), [
    /^npm ci\b/,
    'npm run pack -- --pack-destination /tmp',
    /^npm install .*\/tmp\/rowhouse-\*\.tgz$/
  ])
  t.match(image?.last('FROM'), /^node:26-bookworm-slim$/)
  t.same(image?.all('COPY'), ['--from=build /installed/node_modules ./node_modules'])
})

t.test('the texts of the package are in the context of the build', async (t) => {
  t.ok(ignored.indexOf('*.md') < ignored.indexOf('!README.md'))
  t.ok(ignored.includes('!CHANGELOG.md'))
})

t.test('tests, benchmarks and files of a working copy are not in the image', async (t) => {
  for (const path of ['test', 'bench', 'data', 'build', 'dist*', '**/node_modules', '.git', 'cookies', '*.db'])
    t.ok(ignored.includes(path), path)
})

t.test('the image runs the service as an unprivileged user, on all addresses, with its data in a volume', async (t) => {
  t.equal(image?.last('USER'), 'node')
  t.equal(image?.last('VOLUME'), '/data')
  t.equal(image?.last('RUN'), 'mkdir /data && chown node:node /data')
  t.match(image?.last('ENV'), /NODE_ENV=production HOST=0\.0\.0\.0 PORT=3000 DATA_DIR=\/data/)
  t.match(image?.last('ENV'), / PATH=\/app\/node_modules\/\.bin:\$PATH$/)
  t.same(JSON.parse(image?.last('CMD') ?? ''), ['rowhouse', 'serve'])
})

t.test('image and compose have the same health check, a command', async (t) => {
  const [, command = ''] = /CMD (\[.*\])$/.exec(image?.last('HEALTHCHECK') ?? '') ?? []
  const inImage = JSON.parse(command)
  t.same(service.healthcheck.test, ['CMD', ...inImage])
  t.same(inImage, ['rowhouse', 'health'])
})

t.test('the container can write only to its volume and to memory, and has no privileges', async (t) => {
  t.match(service, {
    read_only: true,
    tmpfs: ['/tmp'],
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    volumes: ['data:/data']
  })
  t.same(Object.keys(volumes), ['data'])
  t.equal(service.privileged, undefined)
  t.equal(service.cap_add, undefined)
})

t.test('the container has an init process, time to stop, and a restart policy', async (t) => {
  t.match(service, { init: true, restart: 'unless-stopped', stop_grace_period: '15s' })
})

t.test('only this machine reaches the service by default', async (t) => {
  t.same(service.ports, ['127.0.0.1:3000:3000'])
})

t.test('the compose file of a cluster', async (t) => {
  const cluster = parse(readFileSync('deploy/cluster/docker-compose.yml', 'utf8'), { merge: true })
  const { node1, node2, node3, rowhouse1, rowhouse2, caddy } = cluster.services

  t.match(rowhouse1, { build: '../..', image: 'rowhouse' })
  t.match(rowhouse2, { build: undefined, image: 'rowhouse', pull_policy: 'never' }, 'the image is built once')

  const [{ subnet }] = cluster.networks.default.ipam.config
  for (const { environment } of [rowhouse1, rowhouse2]) t.equal(environment.TRUST_PROXY, subnet)

  const used = [node1, node2, node3, rowhouse1, rowhouse2].flatMap((one) => one.volumes)
  t.same(used, [
    ...['node1', 'node2', 'node3'].map((name) => `${name}:/rqlite/file`),
    'rowhouse1:/data',
    'rowhouse2:/data'
  ])
  t.same(
    Object.keys(cluster.volumes),
    used.map((volume) => volume.split(':')[0])
  )

  const ports = Object.values<{ ports?: readonly string[] }>(cluster.services).flatMap((one) => one.ports ?? [])
  t.same(ports, [...node1.ports, ...caddy.ports])
  t.ok(
    ports.every((port) => port.startsWith('127.0.0.1:')),
    'only this machine reaches it'
  )
})

t.test('the compose file shows how to require the first password change', async (t) => {
  t.match(readFileSync('docker-compose.yml', 'utf8'), "# REQUIRE_PASSWORD_CHANGE: 'true'")
  t.equal(service.environment.REQUIRE_PASSWORD_CHANGE, undefined)
})
