import type { TestContext } from 'node:test';
import type { Browser } from 'playwright-core';
import type { DemoStage } from '../../console-stage.ts';

/** Where a journey takes place. */
export type Place = { t: TestContext; stage: DemoStage; browser: Browser };
