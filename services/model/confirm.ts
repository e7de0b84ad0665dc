/** Asked before something is tried again. Throws, or rejects, where the caller has lost the right to it meanwhile. */
export type Confirm = () => unknown

/** For whoever cannot lose it. */
export const always: Confirm = () => {}
