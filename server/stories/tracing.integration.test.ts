/** Follows one call from its request to its webhook, as an OpenTelemetry SDK would be told. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { type Attributes, type Context, type Span, type SpanOptions, trace, type Tracer } from '@opentelemetry/api';
import { hashOfKey } from '../src/collect/find-write-key.ts';
import { readConfig } from '../src/config.ts';
import { destination, KEYS, SIGNER, SOURCE_ID, WORKSPACE_ID } from '../testing/deliver-bed.ts';
import { openReceiver } from '../testing/receiver.ts';
import { openLog } from '../src/log.ts';
import { startRoles } from '../src/start-roles.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

type Ended = { name: string; traceId: string; spanId: string; parentId: string | undefined; attributes: Attributes };

/** Keeps what has ended, as an SDK would send it on. */
function openTracer(ended: Ended[]): Tracer {
  const startSpan = (name: string, options: SpanOptions = {}, context?: Context): Span => {
    const parent = context && trace.getSpanContext(context);
    const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
    const spanId = randomBytes(8).toString('hex');
    const attributes: Attributes = { ...options.attributes };
    const span = {
      spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
      setAttributes: (more: object) => Object.assign(attributes, more),
      setStatus: () => undefined,
      end: () => void ended.push({ name, traceId, spanId, parentId: parent?.spanId, attributes }),
    };
    return span as unknown as Span;
  };
  return { startSpan } as Tracer;
}

test('a call, its append and its attempt are one trace, and the receiver is told nothing of it', async () => {
  const ended: Ended[] = [];
  const tracer = openTracer(ended);
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  await using cluster = await startNatsCluster();
  await using receiver = await openReceiver();
  const settings = {
    MILLRACE_ROLES: 'collect,deliver',
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_NATS_URL: cluster.url,
    MILLRACE_COLLECT_PORT: '0',
    MILLRACE_METRICS_PORT: '0',
    MILLRACE_KEYS: `1:${KEYS.get(1)?.toString('base64')}`,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
    MILLRACE_DRAIN_MS: '0',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  };
  const read = readConfig(settings);
  assert.ok(read.ok);
  await using running = await startRoles(read.value, openLog({ level: 'silent', pretty: false }));
  const writer = await running.stream.configWriter(SIGNER);
  const targets = [{ url: receiver.url }];
  await writer.putDestination(destination({ id: 'dst_1', settings: { targets, sharedSecret: 'a secret' } }));
  const who = { id: SOURCE_ID, workspaceId: WORKSPACE_ID, name: 'Shop', enabled: true };
  await writer.putSource({ ...who, writeKeyHashes: [hashOfKey('a-write-key')] });
  const body = JSON.stringify({ writeKey: 'a-write-key', batch: [track('Bought')] });
  const send = () => fetch(`http://127.0.0.1:${running.collectPort}/v1/batch`, { method: 'POST', body });
  await until(async () => (await send()).status === 200);
  await until(() => ended.some(({ name }) => name === 'millrace.attempt'));
  const [append, call, attempt] = ended;
  assert.deepEqual([append?.name, call?.name, attempt?.name], ['millrace.append', 'millrace.call', 'millrace.attempt']);
  assert.equal(new Set(ended.map(({ traceId }) => traceId)).size, 1);
  assert.deepEqual([call?.parentId, append?.parentId, attempt?.parentId], [undefined, call?.spanId, append?.spanId]);
  assert.deepEqual(attempt?.attributes['millrace.answers'], ['200']);
  assert.equal(receiver.received[0]?.headers['traceparent'], undefined);
  const off = readConfig({ ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: '' });
  assert.ok(off.ok && !off.value.isTraced);
});
