import { openDice } from '../../../server/testing/compute/dice.ts';
import type { Receivers } from '../replay/start-receivers.ts';
import { type Added, addDefinitions, addShop, addWebhook, type Installation, type Shop } from './installation.ts';
import { VISIT } from './measure-expiry.ts';
import { PROBE } from './probe-load.ts';
import { fiftyDefinitions } from './shop.ts';

/** The 50 definitions have no destination, so the relay sends nothing of them; with receivers there are two more, told to a webhook. */
export async function openShop(
  stack: Installation,
  receivers?: Receivers,
): Promise<{ shop: Shop; destinationId: string }> {
  const shop = await addShop(stack);
  const fifty = fiftyDefinitions(openDice(7)).map(
    (definition, nth): Added => ({ key: `definition_${nth}`, definition }),
  );
  await addDefinitions(stack, shop, fifty);
  if (receivers === undefined) return { shop, destinationId: '' };
  const destinationId = await addWebhook(stack, receivers.toldUrl);
  const destinations = [destinationId];
  const audience = (when: object) => ({ kind: 'audience', name: 'Told', when }) as Added['definition'];
  await addDefinitions(stack, shop, [
    { key: PROBE.key, definition: audience({ event: PROBE.event, window: '30d', atLeast: 1 }), destinations },
    { key: VISIT.key, definition: audience({ event: VISIT.event, window: VISIT.window, atLeast: 1 }), destinations },
  ]);
  return { shop, destinationId };
}
