import type { Test } from 'tap'
import { createNodes, killAll, type Node, startAll } from '../../bench/nodes.ts'
import { temporaryDirectory } from '../fixtures.ts'

/** Starts nodes of a cluster. They are killed, and their files removed, when `t` ends. */
export const startNodes = async (t: Test, rqlited: string, count: number): Promise<readonly Node[]> => {
  const nodes = await createNodes(rqlited, count, temporaryDirectory(t))
  t.teardown(() => killAll(nodes))
  await startAll(nodes)
  return nodes
}
