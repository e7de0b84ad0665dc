import type { FileChunk, StagingMessage } from './protocol.ts'

/** Returns the buffers to transfer with a call, and to transfer back with its reply. */
export const memoryOf = ({ method, argument }: StagingMessage) =>
  method === 'write' ? [(argument as FileChunk).memory.buffer] : []
