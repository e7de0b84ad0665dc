import './client/index.js'
