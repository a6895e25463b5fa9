/** PostgreSQL goes away and comes back while the console is open. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { DemoStage } from '../console-stage.ts';
import { inspectPage } from '../inspect-page.ts';
import { settled, type Visit, visit } from '../visitor.ts';
import { waitFor } from '../wait-for.ts';
import { demoShop } from './shop.ts';

const opened = new AsyncDisposableStack();
let stage: DemoStage;
let home: Visit;
let deliveries: Visit;
let live: Visit;

suite('while the database is away', () => {
  before(openPages);

  test('a list says what it cannot show, and keeps its rows', async () => {
    const rows = await rowsOf(deliveries.page).count();
    assert.ok(rows > 0);
    stage.postgres.stop();
    await deliveries.page.getByText('The deliveries cannot be shown.').waitFor();
    assert.ok((await rowsOf(deliveries.page).count()) >= rows);
    assert.deepEqual(await inspectPage(deliveries.page), []);
  });

  test('home keeps its figures and says that they are old', async () => {
    const note = home.page.locator('main .note').first();
    await note.waitFor();
    assert.match(await note.innerText(), /database does not answer/i);
    assert.ok((await home.page.locator('main .tile').count()) > 0);
    assert.deepEqual(await inspectPage(home.page), []);
  });

  test('the live tail goes on or says why not', async (t) => {
    const before = await newestRow(live.page);
    const saysWhy = () => live.page.getByText('Not live').isVisible();
    let isWhy = false;
    await waitFor('the tail has a newer row or a reason', async () => {
      isWhy = await saysWhy();
      return isWhy || (await newestRow(live.page)) !== before;
    });
    t.diagnostic(isWhy ? 'it says why' : 'it goes on');
    assert.ok((await rowsOf(live.page).count()) > 0);
  });
});

suite('after the database is back', () => {
  after(() => opened.disposeAsync());

  test('every screen recovers by itself', async () => {
    stage.postgres.start();
    await deliveries.page.getByText('The deliveries cannot be shown.').waitFor({ state: 'detached' });
    await home.page.locator('main .note').first().waitFor({ state: 'detached' });
    const before = await newestRow(live.page);
    await waitFor('the tail has newer rows', async () => (await newestRow(live.page)) !== before);
    await live.page.getByText('Not live').first().waitFor({ state: 'detached' });
    const found = [home, deliveries, live].flatMap(({ complaints }) => complaints);
    assert.deepEqual(found, []);
  });
});

async function openPages(): Promise<void> {
  const { browser, ids } = demoShop();
  ({ stage } = demoShop());
  const open = async (path: string) => {
    const person = opened.use(await visit(browser, { url: stage.url, account: stage.accounts.developer }));
    await person.page.goto(path);
    await settled(person.page);
    return person;
  };
  [home, deliveries, live] = [await open('/'), await open('/deliveries'), await open(`/sources/${ids.source}`)];
  await rowsOf(live.page).first().waitFor();
}

function rowsOf(page: Page) {
  return page.locator('main tbody tr');
}

async function newestRow(page: Page): Promise<string> {
  return rowsOf(page).first().innerText();
}
