import type { FaultEntry } from './catalog/fault-entry.ts';
import { FAULTS_OF_COLLECT } from './catalog/faults-of-collect.ts';
import { FAULTS_OF_DELIVERY } from './catalog/faults-of-delivery.ts';
import { FAULTS_OF_NEIGHBOURS } from './catalog/faults-of-neighbours.ts';
import { FAULTS_OF_OPERATION } from './catalog/faults-of-operation.ts';

const ALL = { ...FAULTS_OF_COLLECT, ...FAULTS_OF_DELIVERY, ...FAULTS_OF_NEIGHBOURS, ...FAULTS_OF_OPERATION };

export type FaultName = keyof typeof ALL;

/** Every fault by the name people call it. */
export const FAULTS: ReadonlyMap<string, FaultEntry> = new Map<string, FaultEntry>(Object.entries(ALL));
