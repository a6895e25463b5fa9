/** `npm run screenshots`: every screen of the demo shop in light, dark and 390 px wide, into the directory that README and docs show. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';
import { openDemoStage } from './console-stage.ts';
import { asker, findIds } from './find-ids.ts';
import { SCREENS } from './screens.ts';
import { launchBrowser, settled, visit } from './visitor.ts';

/** The three that README and docs show are part of the project; the others are for looking at. */
const KEPT = new Set(['home', 'destination', 'delivery', 'event-journey', 'source-live']);
const KEPT_DIR = join(ROOT_DIR, 'docs/pictures');
const OTHER_DIR = join(ROOT_DIR, '.runs/pictures');
const LOOKS = [
  { suffix: '', scheme: 'light', width: 1_440 },
  { suffix: '-dark', scheme: 'dark', width: 1_440 },
  { suffix: '-phone', scheme: 'light', width: 390 },
] as const;

for (const dir of [KEPT_DIR, OTHER_DIR]) mkdirSync(dir, { recursive: true });
await using stage = await openDemoStage();
const ids = await findIds(asker(stage, stage.token));
await using browser = await launchBrowser();
for (const { suffix, scheme, width } of LOOKS) {
  await using person = await visit(browser, { url: stage.url, account: stage.accounts.owner, scheme, width });
  await using stranger = await visit(browser, { url: stage.url, scheme, width });
  for (const { name, path, isPublic = false } of SCREENS) {
    const { page } = isPublic ? stranger : person;
    await page.goto(path(ids));
    await settled(page);
    const isKept = KEPT.has(name) && suffix !== '-phone';
    await page.screenshot({ path: join(isKept ? KEPT_DIR : OTHER_DIR, `${name}${suffix}.png`), fullPage: !isKept });
    console.log(`${name}${suffix}`);
  }
}
