const MS_OF_MINUTE = 60_000
const LOCAL_LENGTH = 'YYYY-MM-DDTHH:mm'.length

/** Returns epoch milliseconds as the text of an input of a local time: `YYYY-MM-DDTHH:mm`. */
export const toLocal = (time: number) =>
  new Date(time - new Date(time).getTimezoneOffset() * MS_OF_MINUTE).toISOString().slice(0, LOCAL_LENGTH)
