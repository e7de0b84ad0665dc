-- Sends the requests of a file, separated by NUL, in order and repeatedly. Prints the line that bench/wrk.ts parses.
local requests, position = {}, 0
local worker

function setup(thread)
  worker = thread
end

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  for request in file:read('*a'):gmatch('[^%z]+') do
    requests[#requests + 1] = request
  end
  file:close()
  -- The script makes no garbage. A collection would scan all requests, stop the load and raise its p99.
  collectgarbage()
  collectgarbage('stop')
  ready = os.clock()
end

function request()
  position = position % #requests + 1
  return requests[position]
end

function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.timeout + errors.status
  print(string.format(
    'RESULT {"completed":%d,"seconds":%f,"p50":%f,"p99":%f,"cpuSeconds":%f,"failures":%d}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    os.clock() - worker:get('ready'), failures
  ))
end
