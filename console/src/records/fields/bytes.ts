/** Returns the number of bytes that a base64 text encodes. */
export const sizeOf = (base64: string) => (base64.length / 4) * 3 - (base64.match(/=*$/)?.[0].length ?? 0)

export const isBase64 = (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

const CLICK_MS = 10_000

/** Saves a file on the computer of the user. */
export const download = (content: Blob, name: string) => {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), CLICK_MS)
}

/** The browser must not show the bytes: a file of HTML would run here. */
export const downloadBytes = (base64: string, name: string) =>
  download(new Blob([bytesOf(base64)], { type: 'application/octet-stream' }), name)

/** Returns the content of a file as base64 text. */
export const readBase64 = (file: Blob) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,?/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
