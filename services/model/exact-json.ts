import { parse } from 'lossless-json'
import { parseInteger } from './literals.ts'

/** Digits of the smallest integer that a double may round. */
const WIDE_INTEGER = /\d{16}/

const toNumber = (text: string) => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : (parseInteger(text) ?? number)
}

/**
 * Returns the value of a JSON text that `JSON.parse` has accepted. An integer of 64 bits that a double may round is a
 * `bigint`.
 */
export const parseExactJson = (text: string): unknown => parse(text, null, { parseNumber: toNumber })

export const hasWideInteger = (text: string) => WIDE_INTEGER.test(text)
