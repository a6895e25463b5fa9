import type { RawCase } from './raw-case.ts';
import { FRAMING } from './raw-framing.ts';
import { HEADS } from './raw-heads.ts';

/** Every request that is wrong in its bytes, before anybody looks at what it means. */
export const RAW_REQUESTS: RawCase[] = [...FRAMING, ...HEADS];
