import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import type { Node } from '../../bench/nodes.ts'
import { JWT_SECRET } from '../rqlite/cluster.ts'
import { extendTimeout, startService } from '../service-process.ts'
import { readNode, waitForLeader } from './nodes.ts'

/** Before and after each kill: an election takes less. */
const KILL_PAUSE_MS = 700
/** In this time all nodes have stored the last batch. */
const EQUAL_MS = 5000

/** Returns the functions that start two services of a cluster. */
export const serviceStarts = (t: Test, nodes: readonly Node[]) => {
  const env = { RQLITE_URLS: nodes.map(({ url }) => url).join(','), JWT_SECRET }
  const start = () => startService(t, env)
  return [start, start] as const
}

/** Starts two services of a cluster, and returns their addresses. */
export const startServices = async (t: Test, nodes: readonly Node[]): Promise<readonly [string, string]> => {
  const [startFirst, startSecond] = serviceStarts(t, nodes)
  return [(await startFirst()).address, (await startSecond()).address]
}

/** Kills the leader this many times, each time after a pause, and starts it again. */
export const killLeaders = async (t: Test, nodes: readonly Node[], count: number) => {
  for (let killed = 0; killed < count; killed += 1) {
    extendTimeout(t)
    await delay(KILL_PAUSE_MS)
    const leader = await waitForLeader(nodes)
    await leader.kill('SIGKILL')
    await delay(KILL_PAUSE_MS)
    await leader.start()
  }
}

const tableNames = async (node: Node) => {
  const tables = await readNode(
    node,
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\' ORDER BY name"
  )
  return tables.map(([name]) => String(name))
}

/** Returns the content of each table, and the declarations. */
const contentOf = async (node: Node) => {
  const content: [string, unknown][] = []
  for (const table of await tableNames(node)) {
    const columns = await readNode(node, `SELECT name FROM pragma_table_xinfo('${table}')`)
    const values = columns.map(([name]) => `quote("${table}"."${name}")`).join(" || ',' || ")
    content.push([table, await readNode(node, `SELECT ${values} FROM "${table}" ORDER BY 1`)])
  }
  content.push([
    'declarations',
    await readNode(node, 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2')
  ])
  return content
}

const areEqual = (contents: readonly unknown[]) => contents.every((one) => isDeepStrictEqual(one, contents[0]))

/** Checks that all nodes have the same rows and declarations. */
export const assertEqualNodes = async (t: Test, nodes: readonly Node[]) => {
  const readAll = () => Promise.all(nodes.map(contentOf))
  let contents = await readAll()
  for (const start = performance.now(); !areEqual(contents) && performance.now() - start < EQUAL_MS; )
    contents = await readAll()
  const [first, ...others] = contents
  for (const other of others) t.strictSame(other, first, 'all nodes have the same rows')
}
