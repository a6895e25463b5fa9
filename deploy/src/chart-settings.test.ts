/** Every setting of the program can be set from the chart, and the chart sets nothing that the program does not know. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { readConfig } from '../../server/src/config.ts';
import { DEFAULTS } from '../../server/src/read-setting.ts';
import { CHART_DIR, type Manifest, named, pods, render } from './chart.ts';

const SETTINGS = Object.keys(DEFAULTS).toSorted();
/** The chart's default, where it is not that of the program; values.yaml says why. */
const OTHER_DEFAULTS: Record<string, string> = {
  MILLRACE_PROCESSES: '1',
  MILLRACE_DRAIN_MS: '10000',
  MILLRACE_REPLICAS: '3',
};

suite('the settings in the chart', () => {
  test('are all that the program has, and no others', () => {
    // The ways for a NATS user to prove itself exclude each other, so no one file has all of them.
    const rendered = ['everything.yaml', 'nkeys.yaml', 'creds.yaml'].flatMap((file) => render(file));
    assert.deepEqual([...new Set(settingNames(rendered))].toSorted(), SETTINGS);
  });

  test('reach the program as it reads them', () => {
    const { data = {} } = named(render('everything.yaml'), 'ConfigMap', 'shop-millrace-settings');
    const read = readConfig({ ...data, MILLRACE_KEYS: `1:${Buffer.alloc(32).toString('base64')}` });
    // The one value that is a folder of the image.
    assert.deepEqual(read, { ok: false, problems: ['MILLRACE_CONSOLE_DIR must be a directory with an index.html'] });
    assert.equal(data['MILLRACE_MAX_HELD_BYTES'], '268435456');
  });

  test('have the public address of an ingress with TLS, unless another is set', () => {
    const host = ['--set', 'ingress.collect.enabled=true,ingress.collect.host=in.example.com'];
    const tls = [...host, '--set', 'ingress.collect.tlsSecret=in-tls'];
    const urlOf = (file: string, ...args: string[]) =>
      named(render(file, ...args), 'ConfigMap', 'shop-millrace-settings').data?.['MILLRACE_COLLECT_URL'];
    assert.equal(urlOf('minimal.yaml'), undefined);
    assert.equal(urlOf('minimal.yaml', ...host), undefined);
    assert.equal(urlOf('minimal.yaml', ...tls), 'https://in.example.com');
    assert.equal(urlOf('everything.yaml', ...tls), 'https://events.example.com');
  });

  test('are in values.yaml with the default of the program, or another that is stated', () => {
    const { settings } = parse(readFileSync(join(CHART_DIR, 'values.yaml'), 'utf8')) as {
      settings: Record<string, unknown>;
    };
    for (const [key, value] of Object.entries(settings)) {
      const name = settingOf(key);
      assert.ok(name in DEFAULTS, key);
      assert.equal(String(value), OTHER_DEFAULTS[name] ?? DEFAULTS[name as keyof typeof DEFAULTS], key);
    }
  });

  test('have a type in the schema, each of them', () => {
    const { properties } = JSON.parse(readFileSync(join(CHART_DIR, 'values.schema.json'), 'utf8')) as {
      properties: { settings: { properties: object } };
    };
    const { settings } = parse(readFileSync(join(CHART_DIR, 'values.yaml'), 'utf8')) as { settings: object };
    assert.deepEqual(Object.keys(properties.settings.properties).toSorted(), Object.keys(settings).toSorted());
  });
});

/** maxInFlight is MILLRACE_MAX_IN_FLIGHT. */
function settingOf(key: string): string {
  return `MILLRACE_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** From the environment of the pods, the ConfigMap of settings and the files named as settings. */
function settingNames(manifests: Manifest[]): string[] {
  const settings = manifests.filter(({ metadata }) => metadata.name.endsWith('-settings'));
  const names = settings.flatMap(({ data = {} }) => Object.keys(data));
  for (const { pod } of pods(manifests)) {
    names.push(...pod.containers.flatMap(({ env }) => env.map(({ name }) => name)));
    const sources = pod.volumes.flatMap(({ projected }) => projected?.sources ?? []);
    names.push(...sources.flatMap(({ secret }) => secret.items.map(({ path }) => path)));
  }
  return names.filter((name) => name.startsWith('MILLRACE_'));
}
