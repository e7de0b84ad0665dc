import { foldName } from './names.ts'

/** A letter beyond ASCII with exactly one lower and one upper form. */
export interface Letter {
  readonly upper: string
  readonly lower: string
}

/**
 * Returns null for a character without such forms. `ß` has two letters as its upper form; Σ is the upper form of both σ and
 * ς, and folds to σ only; the lower form of the Kelvin sign is an ASCII letter.
 */
const letterOf = (character: string): Letter | null => {
  const upper = character.toUpperCase()
  const lower = character.toLowerCase()
  const isPair = upper !== lower && upper.toLowerCase() === lower && lower.toUpperCase() === upper
  return isPair && (character === upper || character === lower) && [...upper].length === 1 && character > '\x7f'
    ? { upper, lower }
    : null
}

export interface FoldedText {
  /** In lower case. */
  readonly text: string
  readonly letters: readonly Letter[]
  /** The longest part of the text without these letters. */
  readonly plainPart: string
}

/** Folds the case of ASCII letters, and of up to `maxLetters` different letters beyond ASCII. */
export const foldText = (text: string, maxLetters: number): FoldedText => {
  const letters = new Map<string, Letter>()
  const parts = ['']
  let folded = ''
  for (const character of foldName(text)) {
    const letter = letterOf(character)
    const isFolded = letter !== null && (letters.has(letter.lower) || letters.size < maxLetters)
    if (isFolded) {
      letters.set(letter.lower, letter)
      parts.push('')
    } else parts.push(parts.pop() + character)
    folded += isFolded ? letter.lower : character
  }
  const plainPart = parts.reduce((longest, part) => (part.length > longest.length ? part : longest))
  return { text: folded, letters: [...letters.values()], plainPart }
}
