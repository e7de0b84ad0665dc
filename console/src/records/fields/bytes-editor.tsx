import { Download, Upload } from 'lucide-react'
import { useRef } from 'react'
import { texts } from '../../texts/fields.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { formatBytes } from '../../ui/size.ts'
import { notifyError } from '../../ui/toast.tsx'
import { downloadBytes, isBase64, readBase64, sizeOf } from './bytes.ts'
import styles from './field-editor.module.css'
import type { EditorProps } from './field-editor.tsx'
import { placeholderOf } from './placeholder.ts'

/** Bytes: their size, a file to replace them, and their download. */
export const BytesEditor = ({ table, field, value, onChange, autoFocus, control }: EditorProps) => {
  const input = useRef<HTMLInputElement>(null)
  const name = field.label || field.name
  const read = async (file: File | undefined) => {
    if (!file) return
    try {
      onChange(await readBase64(file))
    } catch (error) {
      notifyError(texts.notRead(file.name), error)
    }
  }
  return (
    <div className={styles.bytes}>
      <span className={styles.size}>
        {value ? (isBase64(value) ? formatBytes(sizeOf(value)) : texts.misfit) : placeholderOf(field, value)}
      </span>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={name}
        onChange={({ target }) => read(target.files?.[0]).then(() => (target.value = ''))}
      />
      <Button
        {...control}
        aria-label={`${name}: ${texts.upload}`}
        autoFocus={autoFocus}
        onClick={() => input.current?.click()}
      >
        <Upload size={14} aria-hidden="true" />
        {texts.upload}
      </Button>
      {value && isBase64(value) && (
        <IconButton
          label={texts.download(name)}
          onClick={() => downloadBytes(value, `${table.name}-${field.name}.bin`)}
        >
          <Download size={14} aria-hidden="true" />
        </IconButton>
      )}
    </div>
  )
}
