import { setTimeout as pause } from 'node:timers/promises'
import { createViewScans } from '../../../services/engine/loop/view-scans.ts'
import { serviceCaller } from '../../../services/model/caller.ts'

// Runs a statement in a process for SQL views, for a test that kills this process. Prints a line when the statement runs.
const [file = '', sql = ''] = process.argv.slice(2)
const { scan } = createViewScans({ file, cacheSize: 2 })
await scan({ sql: 'SELECT 1', params: [] }, serviceCaller)
const running = scan({ sql, params: [] }, serviceCaller)
await pause(100)
process.stdout.write('running\n')
await running
