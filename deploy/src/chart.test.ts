import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parse as parseYaml } from 'yaml';
import { readConfig } from '../../server/src/config.ts';
import { CHART_DIR, helm, named, parse, pods, render, renderText, VALUE_FILES } from './chart.ts';
import { DEPLOY_DIR, runTool } from './tools.ts';

/** The oldest that the chart claims to run on, and the newest whose schemas are there. */
const KUBERNETES = ['1.27', '1.37'];

suite('the Helm chart', () => {
  test('passes lint with every value file', () => {
    const values = VALUE_FILES.map((file) => join(CHART_DIR, 'ci', file));
    for (const file of values) {
      const linted = helm('lint', '--strict', '--quiet', CHART_DIR, '--values', file);
      assert.equal(linted.status, 0, linted.stdout + linted.stderr);
    }
  });

  for (const version of KUBERNETES) {
    test(`passes the strict schemas of Kubernetes ${version} with every value file`, () => {
      using rendered = filesWith(VALUE_FILES.map((file) => renderText(file)));
      const args = ['--strict', '--quiet', '--no-warn', '-k', version, ...rendered.paths];
      const done = runTool('kubernetes-validate', args);
      assert.equal(done.status, 0, `${done.stdout}${done.stderr}`);
    });
  }

  for (const file of VALUE_FILES) {
    test(`gives every pod limits, no rights, no token and an image with a version with ${file}`, () => {
      const all = pods(render(file));
      assert.ok(all.length >= 3);
      for (const { name, pod } of all) {
        assert.equal(pod.automountServiceAccountToken, false, name);
        assert.equal(pod.securityContext['runAsNonRoot'], true, name);
        for (const { image, resources, securityContext } of pod.containers) {
          assert.match(image, /:\d+\.\d+\.\d+$|@sha256:[0-9a-f]{64}$/);
          assert.ok(resources.requests?.['cpu'] && resources.requests['memory'] && resources.limits?.['memory'], name);
          assert.deepEqual(securityContext, {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
        }
      }
    });
  }

  test('names no secret in its values, and generates another one for each installation', () => {
    const keysOf = () => named(render('minimal.yaml'), 'Secret', 'shop-millrace-keys').data?.['MILLRACE_KEYS'] ?? '';
    const [one, other] = [keysOf(), keysOf()];
    assert.notEqual(one, other);
    const read = readConfig({ MILLRACE_KEYS: Buffer.from(one, 'base64').toString() });
    assert.ok(read.ok && read.value.control.keys.get(1)?.length === 32);
    const users = named(render('minimal.yaml'), 'Secret', 'shop-millrace-nats-users').data ?? {};
    const passwords = Object.values(users).map((value) => Buffer.from(value, 'base64').toString());
    assert.equal(new Set(passwords).size, 6);
    for (const password of passwords) assert.match(password, /^[A-Za-z0-9]{40}$/);
  });

  test('never makes new secrets for an installation that has some: an upgrade that cannot see them fails', () => {
    assert.throws(
      () => render('minimal.yaml', '--is-upgrade'),
      /restore it, or name one of your own \(keys\.existingSecret/,
    );
    assert.ok(render('gitops.yaml', '--is-upgrade').length > 10);
  });

  test('demands a choice where it cannot see a cluster: each rendering would make another key ring', () => {
    const refused =
      /renders without a cluster here .*keys\.existingSecret, nats\.auth\.existingSecret\), or set keys\.generate/;
    assert.throws(() => render('minimal.yaml', '--set', 'keys.generate=false'), refused);
    const own = ['--set', 'keys.generate=false', '--set', 'keys.existingSecret=ring'];
    assert.throws(() => render('minimal.yaml', ...own), refused);
    assert.ok(render('minimal.yaml', ...own, '--set', 'nats.auth.existingSecret=users').length > 10);
  });

  test('lets every process, and no job that migrates, reach the further peers of networkPolicy.extraEgress', () => {
    const egress = (role: string) =>
      JSON.stringify(
        named(render('everything.yaml', '--set', 'database.migrate=job'), 'NetworkPolicy', `shop-millrace-${role}`).spec
          .egress,
      );
    for (const role of ['collect', 'deliver', 'control', 'compute'])
      assert.match(egress(role), /"port":4318.*"tracing"/);
    assert.doesNotMatch(egress('migrate'), /tracing/);
  });

  test('leaves the number of pods to the autoscaler where there is one', () => {
    const { spec } = named(render('everything.yaml'), 'Deployment', 'shop-millrace-collect');
    assert.equal('replicas' in spec, false);
  });

  test('lets deliver reach the internet, NATS and the allowed networks, and nothing private', () => {
    const { spec } = named(render('everything.yaml'), 'NetworkPolicy', 'shop-millrace-deliver');
    type Rule = { to?: { ipBlock?: { cidr: string; except?: string[] } }[]; ports: { port: number }[] };
    const webhooks = (spec.egress as Rule[]).at(-1);
    const blocks = webhooks?.to?.map(({ ipBlock }) => ipBlock?.cidr);
    assert.deepEqual(blocks, ['0.0.0.0/0', '::/0', '10.20.0.0/16', '10.30.0.0/16']);
    const except = webhooks?.to?.[0]?.ipBlock?.except ?? [];
    for (const range of ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '127.0.0.0/8']) {
      assert.ok(except.includes(range), range);
    }
    assert.equal(
      (spec.egress as Rule[]).some(({ ports }) => ports.some(({ port }) => port === 6432)),
      false,
    );
    const control = named(render('everything.yaml'), 'NetworkPolicy', 'shop-millrace-control').spec.egress as Rule[];
    assert.ok(control.some(({ ports }) => ports.some(({ port }) => port === 6432)));
  });

  test('gives a role the secrets that it needs, and the login of the tables to no process where a job migrates', () => {
    const files = (file: string, role: string) => {
      const { volumes } = named(render(file), 'Deployment', `shop-millrace-${role}`).spec.template.spec;
      const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
      return sources.flatMap(({ secret }) => secret.items.map(({ path }) => path)).toSorted();
    };
    assert.deepEqual(files('minimal.yaml', 'collect'), []);
    assert.deepEqual(files('minimal.yaml', 'deliver'), ['MILLRACE_KEYS']);
    const database = ['MILLRACE_DATABASE_URL', 'MILLRACE_KEYS', 'MILLRACE_MIGRATION_DATABASE_URL'];
    assert.deepEqual(files('minimal.yaml', 'control'), database);
    assert.deepEqual(files('gitops.yaml', 'control'), database.slice(0, 2));
    assert.deepEqual(files('nkeys.yaml', 'deliver'), ['MILLRACE_KEYS', 'ca.pem', 'deliver.nk']);
    assert.deepEqual(files('creds.yaml', 'collect'), ['collect.creds']);
  });

  test('carries the alerts, the dashboard and the NATS accounts of this version, also when it is packed', () => {
    const dir = mkdtempSync(join(tmpdir(), 'millrace-chart-'));
    try {
      assert.equal(helm('package', CHART_DIR, '--destination', dir).status, 0);
      const values = join(CHART_DIR, 'ci/everything.yaml');
      const packed = helm('template', 'shop', join(dir, 'millrace-0.1.0.tgz'), '--values', values);
      assert.equal(packed.stderr, '');
      const manifests = parse(packed.stdout);
      const given = (file: string) => readFileSync(join(DEPLOY_DIR, file), 'utf8');
      const alerts = (parseYaml(given('prometheus/alerts.yml')) as { groups: unknown }).groups;
      assert.deepEqual(named(manifests, 'PrometheusRule', 'shop-millrace').spec.groups, alerts);
      const dashboard = named(manifests, 'ConfigMap', 'shop-millrace-dashboard').data?.['millrace.json'] ?? '';
      assert.deepEqual(JSON.parse(dashboard), JSON.parse(given('grafana/millrace.json')));
      const accounts = named(manifests, 'ConfigMap', 'shop-millrace-nats-accounts').data?.['accounts.conf'] ?? '';
      assert.equal(accounts.trim(), given('nats/accounts.conf').trim());
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test('refuses values that cannot work, and says which and why', () => {
    const refusals: [string, RegExp][] = [
      ['nats.servers=null', /set nats\.servers, such as \[nats\.nats\.svc:4222\]/],
      ['database.existingSecret=', /set database\.existingSecret to a Secret with the URLs of PostgreSQL/],
      ['nats.auth.method=nkey', /nats\.auth\.method nkey needs nats\.auth\.existingSecret/],
      ['terminationGracePeriodSeconds=39', /at least 30 more than settings\.drainMs/],
      [
        'deliver.autoscaling.enabled=true,deliver.autoscaling.by=keda',
        /deliver\.autoscaling\.by keda needs keda\.prometheusUrl/,
      ],
      ['ingress.console.enabled=true', /ingress\.console needs a host/],
      ['database.migrate=job,database.migrationUrlKey=', /database\.migrate job needs database\.migrationUrlKey/],
      ['settings.retentoin=1h', /retentoin/],
      ['settings.replicas=2', /settings\.?\/?replicas/],
      ['image.tag=latest', /image\.?\/?tag/],
      ['extraEnv[0].name=MILLRACE_RETENTION', /extraEnv/],
    ];
    for (const [change, said] of refusals) assert.throws(() => render('minimal.yaml', '--set', change), said, change);
  });
});

function filesWith(texts: string[]): Disposable & { paths: string[] } {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-chart-'));
  const paths = texts.map((text, i) => {
    const path = join(dir, `${i}.yaml`);
    writeFileSync(path, text);
    return path;
  });
  return { paths, [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
}
