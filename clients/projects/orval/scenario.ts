import './client.js'
import './schemas.js'
