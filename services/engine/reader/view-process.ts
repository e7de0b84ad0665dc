import { endWithService, sendToService } from '../shared/service-process.ts'
import { createScan, type ScanRequest } from './scan.ts'
import { createTrial, type TrialRequest } from './trial.ts'

const [servicePid, file = '', cacheSize] = process.argv.slice(2)

// The service kills this process instead of setting `stop`.
const stop = new Int32Array(new SharedArrayBuffer(4))
const scan = createScan({ file, cacheSize: Number(cacheSize), stop })
const runTrial = createTrial({ file, busyTimeout: 2000, cacheSize: Number(cacheSize) })

process.on('message', (request: ScanRequest | TrialRequest) =>
  sendToService('trial' in request ? runTrial(request) : scan(request))
)

await endWithService(Number(servicePid))
sendToService('ready')
