/**
 * The grid has slots, into which rows are put: `row = slot + offset`. Firefox has at most 10,000 rows in a CSS grid, and
 * browsers cap the height of an element (Firefox: 17.8 million pixels).
 */
export const MAX_SLOTS = 9900

/** At both ends of the table, each slot stands for one row, so that the ends are reached without a jump. */
const END = 500

/** Nearer than this to an edge of the slots, the rows are put into other slots. */
const MARGIN = 120

export const slotCount = (rows: number) => Math.min(rows, MAX_SLOTS)

/** Rows for each slot between the ends. */
const ratio = (rows: number) => (rows - 2 * END) / (MAX_SLOTS - 2 * END)

/** The row that the scrollbar shows at this slot: in proportion, apart from the ends. */
export const rowOfSlot = (slot: number, rows: number) => {
  if (rows <= MAX_SLOTS || slot < END) return slot
  if (slot >= MAX_SLOTS - END) return rows - (MAX_SLOTS - slot)
  return Math.round(END + (slot - END) * ratio(rows))
}

/** The slot at which the scrollbar shows this row. */
export const slotOfRow = (row: number, rows: number) => {
  if (rows <= MAX_SLOTS || row < END) return row
  if (row >= rows - END) return MAX_SLOTS - (rows - row)
  return Math.round(END + (row - END) / ratio(rows))
}

/** The offset after a jump of the scrollbar to this slot. */
export const offsetAt = (slot: number, rows: number) => rowOfSlot(slot, rows) - slot

/** Whether scrolling would soon reach an edge of the slots that is no end of the table. */
export const isNearEdge = (slot: number, offset: number, rows: number) =>
  (slot < MARGIN && offset > 0) || (slot > slotCount(rows) - MARGIN && offset < rows - slotCount(rows))

/** The offset that keeps the row of `slot`, and shows the scrollbar in proportion. */
export const rebasedOffset = (slot: number, offset: number, rows: number) => {
  const row = Math.min(slot + offset, rows - 1)
  return clampOffset(row - slotOfRow(row, rows), rows)
}

export const clampOffset = (offset: number, rows: number) => Math.max(0, Math.min(offset, rows - slotCount(rows)))

interface Visible {
  /** The position of the scrollbar, and the height below the header: in pixels. */
  readonly top: number
  readonly height: number
  readonly rows: number
  readonly rowHeight: number
}

/** The first slot that is visible as a whole, and the number of such slots: at least one. */
export const visibleSlots = ({ top, height, rows, rowHeight }: Visible) => {
  const last = Math.max(0, slotCount(rows) * rowHeight - height)
  const start = Math.min(top, last)
  // With a zoom, positions have fractions of a pixel.
  const slot = Math.ceil((start - 0.5) / rowHeight)
  return { slot, visible: Math.max(1, Math.floor((start + height + 0.5) / rowHeight) - slot) }
}
