/** A role is offered what it may do, and its browser gets nothing that it may not read. The server refuses in any case; this is about the console. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { DemoStage } from '../console-stage.ts';
import { asker } from '../find-ids.ts';
import { type Ids, type Screen, SCREENS } from '../screens.ts';
import { goInside, settled, visit, type Visit } from '../visitor.ts';
import { demoShop } from './shop.ts';

const ROLES = ['viewer', 'developer', 'admin', 'owner'] as const;
type Role = (typeof ROLES)[number];

/** The name of a button or link, by screen, and the first role that is offered it. */
const ACTIONS: readonly { screen: string; names: string[]; needs: Role }[] = [
  { screen: 'sources', names: ['New source'], needs: 'developer' },
  { screen: 'new-source', names: ['Create source'], needs: 'developer' },
  { screen: 'source-schema', names: ['Block', 'Unblock'], needs: 'developer' },
  { screen: 'source-settings', names: ['New write key', 'Revoke…', 'Delete source…'], needs: 'developer' },
  { screen: 'catalog', names: ['New destination'], needs: 'developer' },
  { screen: 'event-journey', names: ['Replay this event…'], needs: 'developer' },
  { screen: 'destinations', names: ['New destination'], needs: 'developer' },
  { screen: 'new-destination', names: ['Create, disabled'], needs: 'developer' },
  { screen: 'destination', names: ['Pause', 'Send test'], needs: 'developer' },
  { screen: 'destination-try', names: ['Send a test'], needs: 'developer' },
  { screen: 'destination-settings', names: ['Rotate the secret', 'Delete the destination'], needs: 'developer' },
  { screen: 'delivery', names: ['Retry now'], needs: 'developer' },
  { screen: 'dead-letters', names: ['Redrive…'], needs: 'developer' },
  { screen: 'replays', names: ['New replay…'], needs: 'developer' },
  { screen: 'replay', names: ['Replay again…'], needs: 'developer' },
  { screen: 'audiences', names: ['New audience'], needs: 'developer' },
  { screen: 'new-audience', names: ['Create audience'], needs: 'developer' },
  { screen: 'audience', names: ['Edit', 'Send again…', 'Delete…', 'Detach', 'Attach…'], needs: 'developer' },
  { screen: 'user-profile', names: ['Erase user…'], needs: 'admin' },
  { screen: 'deletion', names: ['Download receipt'], needs: 'admin' },
  { screen: 'team', names: ['Invite a person'], needs: 'admin' },
  { screen: 'team', names: ['Rename workspace', 'Delete workspace…'], needs: 'owner' },
  { screen: 'team-tokens', names: ['New token'], needs: 'admin' },
];
/** These are of no use to a lower role, and tell it which one they need. */
const WALLS: Readonly<Record<string, Role>> = {
  'new-source': 'developer',
  'new-destination': 'developer',
  'new-replay': 'developer',
  'destination-try': 'developer',
  'new-audience': 'developer',
  'audience-edit': 'developer',
  privacy: 'admin',
  deletion: 'admin',
  system: 'owner',
  'system-workspaces': 'owner',
  'system-operators': 'owner',
};
const NEEDS = /\bneeds (the role )?(developer|admin|owner)\b|^Only (owners|operators)\b|\bmay not do this\b/im;
/** Paths that the API refuses to a lower role. */
const RESTRICTED: readonly [RegExp, Role][] = [
  [/^\/api\/v1\/(tokens|audit-log|invitations|deletion-requests)\b/, 'admin'],
  [/^\/api\/v1\/(system|quarantine|configuration|operators|installation)\b/, 'owner'],
];

let stage: DemoStage;
let browser: Browser;
let ids: Ids;

suite('the console', { concurrency: 2 }, () => {
  before(() => ({ stage, browser, ids } = demoShop()));

  for (const role of ROLES) {
    test(`offers ${role} what that role may do, and asks for nothing that it may not read`, async () => {
      await using person = await visit(browser, { url: stage.url, account: stage.accounts[role] });
      const mistakes: string[] = [];
      for (const { name, path } of screensFor(role)) {
        person.answers.length = 0;
        await goInside(person.page, path(ids));
        const found = [...(await wrongOffers(person.page, name, role)), ...wrongReads(person, role)];
        mistakes.push(...found.map((mistake) => `${name}: ${mistake}`));
      }
      assert.deepEqual(mistakes, []);
      assert.deepEqual(person.complaints, []);
    });
  }

  test('tells who paused a destination only to those who may read the audit log', async () => {
    const ask = asker(stage, stage.token);
    const { items } = await ask<{ items: { id: string; name: string }[] }>('/destinations?limit=100');
    const paused = items.find(({ name }) => name === 'Fraud scoring')?.id ?? '';
    const seen: Partial<Record<Role, boolean>> = {};
    for (const role of ROLES) {
      await using person = await visit(browser, { url: stage.url, account: stage.accounts[role] });
      await person.page.goto(`/destinations/${paused}`);
      await settled(person.page);
      const bodies = person.answers.filter(({ path }) => path.endsWith(paused)).map(({ body }) => body());
      seen[role] = (await Promise.all(bodies)).some((body) => body.includes('pausedBy'));
    }
    assert.deepEqual(seen, { viewer: false, developer: false, admin: true, owner: true });
  });
});

/** The higher roles have fewer walls: they see the screens that treat roles differently. */
function screensFor(role: Role): Screen[] {
  const isDifferent = (name: string) => name in WALLS || ACTIONS.some(({ screen }) => screen === name);
  return SCREENS.filter(
    ({ name, isPublic }) =>
      isPublic !== true && (isBelow(role, 'admin') || isDifferent(name) || name.startsWith('team')),
  );
}

function isBelow(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) < ROLES.indexOf(needed);
}

/** Above the wall everything is there; below it nothing with such a name can be pressed, on whichever screen. */
async function wrongOffers(page: Page, screen: string, role: Role): Promise<string[]> {
  const wrong: string[] = [];
  for (const { names } of ACTIONS.filter((action) => action.screen === screen && !isBelow(role, action.needs))) {
    for (const name of names) {
      const isThere = await page.waitForFunction(isShown, name).then(
        () => true,
        () => false,
      );
      if (!isThere) wrong.push(`"${name}" is missing`);
    }
  }
  const forbidden = ACTIONS.filter(({ needs }) => isBelow(role, needs)).flatMap(({ names }) => names);
  for (const name of await page.evaluate(pressable)) if (forbidden.includes(name)) wrong.push(`"${name}" is offered`);
  const wall = WALLS[screen];
  const text = await page.locator('main').innerText();
  if (wall !== undefined && isBelow(role, wall) && !NEEDS.test(text))
    wrong.push(`does not say which role it needs: ${text}`);
  return wrong;
}

/** Asking is no harm where the server refuses and the screen says so; a body would be. */
function wrongReads({ answers }: Visit, role: Role): string[] {
  const withheld = RESTRICTED.filter(([, needs]) => isBelow(role, needs));
  return answers
    .filter(({ path, status }) => status !== 403 && withheld.some(([pattern]) => pattern.test(path)))
    .map(({ path, status }) => `${path} was answered ${status}`);
}

/** Both run in the page. */
function isShown(wanted: string): boolean {
  const controls = document.querySelectorAll('main :is(button, a)');
  return [...controls].some((control) => (control.textContent ?? '').trim() === wanted && control.checkVisibility());
}

function pressable(): string[] {
  const controls = [...document.querySelectorAll('main :is(button, a)')];
  return controls
    .filter((control) => control.checkVisibility() && !(control as HTMLButtonElement).disabled)
    .map((control) => (control.textContent ?? '').trim());
}
