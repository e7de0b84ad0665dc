/** SQLite's message for a change of a table that another declaration of the file prevents. */
const IN_THE_WAY = /^error in (table|index|trigger|view) (.*?)( after [\w ]+)?: (.*)$/s

/** The parts of the message. */
export interface InTheWay {
  readonly type: string
  readonly name: string
  /** ` after drop column`: everything compiled before the change. */
  readonly after: string | undefined
  readonly reason: string
}

export const readInTheWay = (message: string): InTheWay | null => {
  const parts = IN_THE_WAY.exec(message)
  if (!parts) return null
  const [, type, name, after, reason] = parts
  return { type: String(type), name: String(name), after, reason: String(reason) }
}
