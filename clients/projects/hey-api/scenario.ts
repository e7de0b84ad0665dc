import './client/client/index.js'
import './client/sdk.gen.js'
