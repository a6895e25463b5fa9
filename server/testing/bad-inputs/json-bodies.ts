import type { BodyCase } from './body-case.ts';
import { ENCODINGS } from './encodings.ts';
import { ODD_CALLS } from './odd-calls.ts';
import { ODD_JSON } from './odd-json.ts';

/** Every body that is wrong or looks wrong, over HTTP that is right. */
export const BODIES: BodyCase[] = [...ENCODINGS, ...ODD_JSON, ...ODD_CALLS];
