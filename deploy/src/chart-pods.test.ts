/** Each pod of the chart, with every value file, has the settings that its role needs: the program reads them as the pod would. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { type Config, readConfig, ROLES } from '../../server/src/config.ts';
import { type Manifest, named, type Pod, render, VALUE_FILES } from './chart.ts';

/** The contents of the Secrets, by the names of their files. */
const CONTENTS: Record<string, string> = {
  MILLRACE_KEYS: `1:${Buffer.alloc(32, 5).toString('base64')}`,
  MILLRACE_DATABASE_URL: 'postgres://millrace:service@database/millrace',
  MILLRACE_MIGRATION_DATABASE_URL: 'postgres://millrace_owner:owner@database/millrace',
  MILLRACE_SMTP_URL: 'smtps://millrace:password@mail.example.com:465',
  MILLRACE_BOOTSTRAP_TOKEN: 'a-bootstrap-token-of-more-than-32-characters',
};

suite('the pods of the chart', () => {
  for (const file of VALUE_FILES) {
    test(`start with ${file}, each role as its own NATS user`, () => {
      const manifests = render(file);
      for (const role of ROLES) {
        const config = configOf(manifests, role);
        assert.deepEqual(config.roles, [role]);
        const { nkeySeed, credentials } = config.natsFiles;
        const proof = config.natsUrl.includes('@') ? config.natsUrl : (nkeySeed ?? credentials ?? '');
        assert.match(proof, new RegExp(`://${role}:password-of-${role}@|/${role}\\.(nk|creds)$`));
        if (role === 'control') assert.match(config.control.databaseUrl, /millrace:service@/);
      }
    });
  }
});

function configOf(manifests: Manifest[], role: string): Config {
  const { spec } = named(manifests, 'Deployment', `shop-millrace-${role}`).spec.template;
  const { data = {} } = named(manifests, 'ConfigMap', 'shop-millrace-settings');
  const root = mkdtempSync(join(tmpdir(), 'millrace-pod-'));
  try {
    writeFiles(spec, root);
    const password = { NATS_PASSWORD: `password-of-${role}` };
    const env = Object.fromEntries(
      (spec.containers[0]?.env ?? []).map(({ name, value = '' }) => [
        name,
        value.replace('/run/secrets', root).replaceAll('$(NATS_PASSWORD)', password.NATS_PASSWORD),
      ]),
    );
    // The one setting that names a folder of the image.
    const read = readConfig({ ...data, ...env, MILLRACE_CONSOLE_DIR: '' });
    if (!read.ok) throw new Error(`${role}: ${read.problems.join(', ')}`);
    return read.value;
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** The projected volumes of a pod, as the kubelet lays them out. */
function writeFiles({ volumes, containers }: Pod, root: string): void {
  for (const { name, projected } of volumes) {
    if (projected === undefined) continue;
    const mount = containers[0]?.volumeMounts?.find((one) => one.name === name)?.mountPath ?? '';
    const dir = mount.replace('/run/secrets', root);
    mkdirSync(dir, { recursive: true });
    for (const { secret } of projected.sources) {
      for (const { path } of secret.items) writeFileSync(join(dir, path), CONTENTS[path] ?? 'x');
    }
  }
}
