import type { RawCase } from './raw-case.ts';
import { FRAMING } from './raw-framing.ts';
import { HEADS } from './raw-heads.ts';

/** Requests that break HTTP itself: the server refuses them before it looks at the call. */
export const RAW_REQUESTS: RawCase[] = [...FRAMING, ...HEADS];
