/** Makes the calls that the shop's web pages, order service and mobile app would send. */
import { randomUUID } from 'node:crypto';
import { openDice, type Dice } from './dice.ts';
import { CLUBS, customers, type Customer, PRODUCTS, type Product } from './shop-data.ts';
import type { SourceName } from './shop-plan.ts';

export type MadeCall = { source: SourceName; call: Record<string, unknown> };

/** Ten calls in a row: four of the web shop, three each of the others. */
const TURNS: readonly SourceName[] = (['Web shop', 'Order service', 'Mobile app'] as const).flatMap((name) =>
  Array.from({ length: name === 'Web shop' ? 4 : 3 }, () => name),
);
/** One release of the mobile app writes times that Millrace cannot read: each tenth of its calls is refused. */
const BAD_CALL_EVERY = 10;
const BAD_RELEASE = '5.2.0';
const RELEASES = ['5.1.3', '5.1.4', '5.3.0'] as const;

type Scene = { dice: Dice; person: Customer; at: Date; number: number };
type Call = Record<string, unknown>;

/** The same seed gives the same calls, apart from ids and times. */
export function openCallMaker(seed: number): (at: Date) => MadeCall {
  const dice = openDice(seed);
  const counts = { all: 0, mobile: 0, orders: 4_200 };
  return (at) => {
    const source = TURNS[counts.all % TURNS.length] ?? 'Web shop';
    counts.all += 1;
    const person = dice.pick(customers);
    const given = { messageId: randomUUID(), timestamp: new Date(at.getTime() - dice.whole(50, 4_000)).toISOString() };
    if (source === 'Web shop') return { source, call: { ...given, ...webCall({ dice, person, at, number: 0 }) } };
    if (source === 'Order service') {
      counts.orders += 1;
      return { source, call: { ...given, ...orderCall({ dice, person, at, number: counts.orders }) } };
    }
    counts.mobile += 1;
    return { source, call: { ...given, ...mobileCall({ dice, person, at, number: counts.mobile }) } };
  };
}

/** A count of the stock that the order service reports in one batch, from time to time. */
export function makeStockCount(dice: Dice, at: Date, amount: number): MadeCall[] {
  return Array.from({ length: amount }, () => {
    const { sku, name } = dice.pick(PRODUCTS);
    const properties = {
      sku,
      name,
      shelf: `${dice.pick(['A', 'B', 'C'])}-${dice.whole(1, 40)}`,
      left: dice.whole(0, 80),
    };
    const call = { type: 'track', event: 'Stock Counted', userId: 'warehouse-north', properties };
    return { source: 'Order service', call: { ...call, messageId: randomUUID(), timestamp: at.toISOString() } };
  });
}

function webCall({ dice, person, ...scene }: Scene): Call {
  const product = dice.pick(PRODUCTS);
  const ids = dice.isWithin(0.6) ? bothIds(person) : { anonymousId: person.anonymousId };
  const path = `/${product.category.toLowerCase()}/${product.sku.toLowerCase()}`;
  const url = `https://shop.fernhill.example${path}`;
  const context = {
    page: { url, path, title: product.name },
    locale: person.locale,
    ip: `203.0.113.${scene.at.getSeconds() + 1}`,
  };
  // A few visitors opted out of every tool behind the shop.
  const common = { ...ids, context, ...(dice.isWithin(0.03) && { integrations: { All: false } }) };
  const kind = dice.next();
  if (kind < 0.4)
    return { ...common, type: 'page', name: 'Product', category: product.category, properties: { url, path } };
  if (kind < 0.55) return { ...common, ...bothIds(person), type: 'identify', traits: traitsOf(person, dice) };
  if (kind < 0.6) {
    const { id, ...traits } = dice.pick(CLUBS);
    return { ...common, ...bothIds(person), type: 'group', groupId: id, traits };
  }
  if (kind < 0.64) return { ...common, type: 'alias', userId: person.userId, previousId: person.anonymousId };
  const event = dice.pick([
    'Product Viewed',
    'Product Viewed',
    'Product Added',
    'Products Searched',
    'Checkout Started',
  ]);
  return { ...common, type: 'track', event, properties: { ...aboutProduct(product), quantity: dice.whole(1, 3) } };
}

function orderCall({ dice, person, number }: Scene): Call {
  const common = { userId: person.userId, context: { library: { name: 'fernhill-orders', version: '2.8.1' } } };
  const kind = dice.next();
  if (kind < 0.1) return { ...common, type: 'identify', traits: { orders: dice.whole(1, 30), lastCity: person.city } };
  const items = Array.from({ length: dice.whole(1, 3) }, () => dice.pick(PRODUCTS));
  const revenue = Number(items.reduce((sum, { price }) => sum + price, 0).toFixed(2));
  const order = { orderId: `FH-${10_000 + number}`, revenue, currency: 'EUR', products: items.map(aboutProduct) };
  const event = eventOfOrder(kind);
  return { ...common, type: 'track', event, properties: { ...order, city: person.city } };
}

function eventOfOrder(kind: number): string {
  if (kind < 0.55) return 'Order Completed';
  if (kind < 0.75) return 'Payment Authorized';
  return kind < 0.92 ? 'Order Shipped' : 'Order Refunded';
}

function mobileCall({ dice, person, at, number }: Scene): Call {
  const isBad = number % BAD_CALL_EVERY === 0;
  const version = isBad ? BAD_RELEASE : dice.pick(RELEASES);
  const context = {
    app: { name: 'Fernhill', version },
    device: { model: dice.pick(['Pixel 9', 'iPhone 16', 'Galaxy S25']) },
    os: { name: dice.pick(['Android', 'iOS']) },
    consent: { analytics: person.hasConsent },
  };
  const common = { ...bothIds(person), context, ...(isBad && { timestamp: wrongTime(at) }) };
  const kind = dice.next();
  if (kind < 0.5) {
    return { ...common, type: 'screen', name: dice.pick(['Trails', 'Trail', 'Basket', 'Club card']), properties: {} };
  }
  if (kind < 0.6)
    return { ...common, type: 'identify', traits: { ...traitsOf(person, dice), push: dice.isWithin(0.7) } };
  const event = dice.pick(['App Opened', 'Trail Saved', 'Push Opened', 'Product Viewed']);
  return {
    ...common,
    type: 'track',
    event,
    properties: { trail: dice.pick(['Eagle Ridge', 'Lake Loop', 'North Rim']) },
  };
}

/** As a phone shows it, which is no form of ISO 8601. */
function wrongTime(at: Date): string {
  const [year, month, day] = at.toISOString().slice(0, 10).split('-');
  return `${day}.${month}.${year} ${at.toISOString().slice(11, 16)} Uhr`;
}

function bothIds({ userId, anonymousId }: Customer): Pick<Customer, 'userId' | 'anonymousId'> {
  return { userId, anonymousId };
}

function traitsOf({ name, email, city }: Customer, dice: Dice): Call {
  return { name, email, city, club: dice.pick(['none', 'silver', 'gold']), newsletter: dice.isWithin(0.5) };
}

function aboutProduct({ sku, name, category, price }: Product): Call {
  return { sku, name, category, price };
}
