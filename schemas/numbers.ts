import { type IntegerOptions, type NumberOptions, Type } from '@sinclair/typebox'

// Without a `format`, clients in Go, Java, Rust and C# read a number as 32 bits: timestamps overflow.

export const Int32 = (options: IntegerOptions) => Type.Integer({ format: 'int32', ...options })

export const Int64 = (options: IntegerOptions) => Type.Integer({ format: 'int64', ...options })

export const Double = (options: NumberOptions) => Type.Number({ format: 'double', ...options })

export const NullableInt64 = (options: IntegerOptions) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], format: 'int64', ...options })
