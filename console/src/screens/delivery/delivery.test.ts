import assert from 'node:assert/strict';
import { test } from 'node:test';
import { curlOf, requestText } from './curl.ts';
import { bodySignature, standardSignature, verdictOf } from './verify-signature.ts';

test('a curl command quotes what it is given and leaves hidden values as placeholders', () => {
  const request = {
    url: 'https://a.example/hook?x=1',
    headers: [
      { name: 'Authorization', value: null },
      { name: 'Content-Length', value: '9' },
      { name: 'webhook-id', value: 'dlv_1' },
    ],
    body: `{"a":"it's"}`,
    isCut: false,
  };
  const curl = curlOf(request);
  assert.ok(curl.includes(`--data-binary '{"a":"it'\\''s"}'`));
  assert.ok(curl.includes(`-H 'Authorization: <set in the destination>'`));
  assert.ok(!curl.includes('Content-Length'));
  assert.match(requestText(request), /^POST \/hook\?x=1 HTTP\/1\.1\nHost: a\.example\n/);
});

test('the signatures are those of the receiving page of the docs', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body =
    '{"version":1,"type":"track","userId":"u1","event":"Order Completed","properties":{"revenue":12.5},"timestamp":"2026-11-15T00:08:46.123Z","context":{}}';
  const signed = { id: 'dlv_01kxsj7n3qv5d8w2c6e9rzb4ht', timestamp: '1794701327', body };
  const standard = await standardSignature(secret, signed);
  assert.equal(standard, 'v1,ro98JRFbUPBe1qeSg2+hgFGSP1nkdz8Vgukpevz89fE=');
  const older = await bodySignature(secret, body);
  assert.equal(older, '8824141e1f027e9b148a1681dfaf5d51e42ca266');
  assert.equal(verdictOf(`v1,other= ${standard}`, { standard, body: older }), 'standard');
  assert.equal(verdictOf('v1,other=', { standard, body: older }), 'none');
});
