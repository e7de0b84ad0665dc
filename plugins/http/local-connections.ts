import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

const connections = new WeakSet<Socket>()

/** Marks a connection of the local socket. Only the operator of the machine can open one. */
export const markLocal = (socket: Socket) => connections.add(socket)

/** Returns whether a request came through the local socket. */
export const isLocal = ({ socket }: Pick<FastifyRequest, 'socket'>) => connections.has(socket)
