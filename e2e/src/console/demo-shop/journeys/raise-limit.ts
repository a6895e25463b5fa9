/** The operator gives a workspace another limit, and the workspace sees it with its use. */
import assert from 'node:assert/strict';
import { visit } from '../../visitor.ts';
import { openHand } from './hand.ts';
import type { Place } from './place.ts';

export async function raiseLimit({ t, stage, browser }: Place): Promise<void> {
  await using operator = await visit(browser, { url: stage.url, account: stage.accounts.owner });
  const { page } = operator;
  const { workspaces } = await page.request.get('/api/v1/me').then((answer) => answer.json());
  await page.goto('/system?tab=limits');
  const hand = openHand(page);
  await hand.type(page.getByLabel('Another workspace'), workspaces[0].id);
  await page.keyboard.press('Enter');
  await hand.click(page.getByRole('button', { name: 'Change Replays and redrives that have not ended' }));
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The default of this installation is 100.').waitFor();
  await hand.type(dialog.getByLabel('Allowed, in jobs'), '1234');
  await page.keyboard.press('Enter');
  const changed = page.getByRole('row', { name: /Replays and redrives that have not ended/ });
  await changed.getByText('of its own').waitFor();

  await using member = await visit(browser, { url: stage.url, account: stage.accounts.viewer });
  await member.page.goto('/usage');
  const row = member.page.getByRole('row', { name: /Replays and redrives that have not ended/ });
  await row.getByText('1,234').waitFor();
  await row.getByText('Below').waitFor();
  assert.equal(await member.page.getByRole('button', { name: /^Change/ }).count(), 0);
  hand.arrive(t, { clicks: 3, seconds: 60 });
  assert.deepEqual([...operator.complaints, ...member.complaints], []);
}
