import { FileUp } from 'lucide-react'
import { useState } from 'react'
import { texts } from '../../texts/transfer.ts'
import { classes } from '../../ui/classes.ts'
import { formatBytes } from '../../ui/size.ts'
import styles from './transfer.module.css'

interface FileDropProps {
  readonly file: File | undefined
  readonly onFile: (file: File) => void
}

/** An area for a file: a click chooses one, and a file can be dropped on it. */
export const FileDrop = ({ file, onFile }: FileDropProps) => {
  const [isOver, setOver] = useState(false)
  const take = (files: FileList | null) => {
    const [first] = files ?? []
    if (first) onFile(first)
  }
  return (
    <label
      className={classes(styles.drop, isOver && styles.over)}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer.files)
      }}
    >
      <FileUp size={16} aria-hidden="true" />
      <span className={styles.file}>{file ? `${file.name} · ${formatBytes(file.size)}` : texts.choose}</span>
      {file && <span className={styles.other}>{texts.chooseOther}</span>}
      <input
        type="file"
        accept=".csv,.tsv,.txt,.ndjson,.jsonl,.json"
        // Without this, the browser does not report that the same file is chosen again.
        onClick={({ currentTarget }) => {
          currentTarget.value = ''
        }}
        onChange={({ target }) => take(target.files)}
      />
    </label>
  )
}
