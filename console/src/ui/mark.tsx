/** The mark of Rowhouse: two houses of a row. */
export const Mark = ({ size }: { readonly size: number }) => (
  <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
    <path fill="currentColor" d="M1 15V6l3-4 3 4v9zm8 0V6l3-4 3 4v9z" />
  </svg>
)
