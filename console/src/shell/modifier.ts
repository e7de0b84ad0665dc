import { texts } from '../texts/commands.ts'

/** The name of the key that `Mod` stands for. */
export const MODIFIER = navigator.userAgent.includes('Mac') ? texts.modifier.mac : texts.modifier.other
