import type { FileChunk, StagingMessage } from './protocol.ts'

/** Returns the memory that moves with a call, and back with its reply. */
export const memoryOf = ({ method, argument }: StagingMessage) =>
  method === 'write' ? [(argument as FileChunk).memory.buffer] : []
