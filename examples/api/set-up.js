import { ask } from './ask.js';

const source = await ask('POST', '/sources', { body: { name: 'Web shop' } });
const settings = {
  targets: [
    { url: 'https://hooks.example.com/orders', headers: { 'X-Team': 'orders' } },
    { url: 'https://backup.example.com/orders' },
  ],
  sharedSecret: 'change me to something long',
};
const destination = await ask('POST', '/destinations', {
  body: { sourceId: source.id, catalog: 'Webhooks', settings },
});
await ask('PATCH', `/destinations/${destination.id}`, { body: { enabled: true } });
console.log(source.writeKeys[0].key);
