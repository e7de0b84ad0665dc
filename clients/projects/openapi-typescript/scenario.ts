export type { paths } from './client.js'
