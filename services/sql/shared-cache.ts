import { LRUCache } from 'lru-cache'
import type { Column, RegisteredTable } from '../model/table.ts'
import type { Dialect } from './dialect.ts'

declare const shared: unique symbol

/** A cache that all keys share. Only `createSharedCache` makes one. */
export interface SharedCache<V> {
  get(key: string): V | undefined
  set(key: string, value: V): unknown
  readonly [shared]: true
}

type Facts = Column | RegisteredTable | Dialect | { readonly [shared]: true }
type Plain = string | number | boolean | null | undefined

type AnyFunction = (...parameters: never[]) => unknown

/**
 * `T` without all that can hold a value of a key: values of SQL (the only types with `bigint`), functions, objects with any
 * names such as claims, and `unknown`. What remains is text, numbers and facts about tables.
 */
export type WithoutValues<T> = unknown extends T
  ? never
  : bigint extends T
    ? never
    : T extends Plain | Facts
      ? T
      : T extends ReadonlySet<infer V>
        ? ReadonlySet<WithoutValues<V>>
        : T extends ReadonlyMap<infer K, infer V>
          ? ReadonlyMap<WithoutValues<K>, WithoutValues<V>>
          : T extends readonly (infer V)[]
            ? readonly WithoutValues<V>[]
            : T extends AnyFunction
              ? never
              : string extends keyof T
                ? never
                : { [K in keyof T]: WithoutValues<T[K]> }

interface Limits<V> {
  readonly max: number
  /** Of the sizes of all entries. Absent: only their number is limited. */
  readonly maxSize?: number
  readonly sizeCalculation?: (value: V, key: string) => number
}

/**
 * Creates a cache that keys share. Its entries are the same for every key. A type that can hold a value of a key does not
 * compile: the second argument is then `never`. Values are bound for each request.
 */
export const createSharedCache = <V extends object | string>(
  limits: Limits<V>,
  ..._proof: V extends WithoutValues<V> ? [] : [holdsValues: never]
): SharedCache<V> => new LRUCache<string, V>(limits) as unknown as SharedCache<V>
