/** The people, goods and places of the made-up shop. Names and addresses are invented; `.example` belongs to no company. */

export type Customer = {
  userId: string;
  anonymousId: string;
  name: string;
  email: string;
  city: string;
  locale: string;
  /** Whether the person agreed to be counted by the analytics tool. */
  hasConsent: boolean;
};

const FIRST_NAMES = ['Anna', 'Bela', 'Clara', 'Davit', 'Elif', 'Finn', 'Greta', 'Hugo', 'Ines', 'Jonna'];
const LAST_NAMES = [
  'Aalto',
  'Brunner',
  'Costa',
  'Dvorak',
  'Eriksen',
  'Fischer',
  'Gallo',
  'Horvat',
  'Ivanov',
  'Janssen',
];
const CITIES = ['Innsbruck', 'Bergen', 'Torino', 'Gothenburg', 'Ghent', 'Ljubljana', 'Grenoble'];
const LOCALES = ['de-AT', 'nb-NO', 'it-IT', 'sv-SE', 'nl-BE', 'sl-SI', 'fr-FR'];
const CUSTOMERS = 60;

/** Everybody who ever comes to the shop. */
export const customers: readonly Customer[] = Array.from({ length: CUSTOMERS }, (_, at) => {
  const first = FIRST_NAMES[at % FIRST_NAMES.length] ?? '';
  const last = LAST_NAMES[(at * 7 + Math.floor(at / FIRST_NAMES.length)) % LAST_NAMES.length] ?? '';
  return {
    userId: `cus_${1001 + at}`,
    anonymousId: `visitor-${(0x5eed00 + at * 7919).toString(16)}`,
    name: `${first} ${last}`,
    email: `${first}.${last}${at}@mail.example`.toLowerCase(),
    city: CITIES[at % CITIES.length] ?? '',
    locale: LOCALES[at % LOCALES.length] ?? '',
    hasConsent: at % 3 === 0,
  };
});

/** This customer asks for the deletion of all data, and comes back to the shop nevertheless. */
export const FORGOTTEN_USER = 'cus_1008';

export type Product = { sku: string; name: string; category: string; price: number };

export const PRODUCTS: readonly Product[] = [
  { sku: 'TENT-2P-RIDGE', name: 'Ridgeline tent for two', category: 'Tents', price: 389 },
  { sku: 'TENT-1P-LARK', name: 'Lark solo tent', category: 'Tents', price: 279 },
  { sku: 'BAG-DOWN-400', name: 'Down sleeping bag 400', category: 'Sleeping', price: 249.5 },
  { sku: 'MAT-AIR-L', name: 'Air mat, long', category: 'Sleeping', price: 119 },
  { sku: 'BOOT-MOSS-42', name: 'Moss hiking boots', category: 'Footwear', price: 189.9 },
  { sku: 'PACK-55-FERN', name: 'Fern backpack 55 l', category: 'Backpacks', price: 165 },
  { sku: 'STOVE-POCKET', name: 'Pocket stove', category: 'Kitchen', price: 44.9 },
  { sku: 'LAMP-HEAD-350', name: 'Head lamp 350', category: 'Lights', price: 39 },
  { sku: 'JACKET-RAIN-M', name: 'Drizzle rain jacket', category: 'Clothing', price: 139 },
  { sku: 'SOCK-WOOL-3', name: 'Wool socks, three pairs', category: 'Clothing', price: 27.5 },
];

export const CLUBS = [
  { id: 'club_karwendel', name: 'Karwendel Hiking Club', members: 212 },
  { id: 'club_fjord', name: 'Fjord Paddlers', members: 88 },
  { id: 'club_scouts', name: 'Scouts of Ghent', members: 140 },
] as const;
