import { DomainError } from '../model/errors.ts'
import { UnexpectedChanges } from './database.ts'

/** Returns the position of the statement that a unit failed at, from 0; undefined if its begin or its commit failed. */
export const failedStatement = (error: unknown): number | undefined =>
  error instanceof UnexpectedChanges || error instanceof DomainError ? error.statement : undefined
