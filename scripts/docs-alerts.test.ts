/** Alerts and runbooks are held together: an alert without a way to act on it only wakes people. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { suite, test } from 'node:test';
import { anchors } from './check-links.ts';
import { projectFiles, ROOT_DIR } from './project-files.ts';

const BASE = 'https://github.com/millrace/millrace/blob/main/';
const read = (file: string) => readFileSync(join(ROOT_DIR, file), 'utf8');

type Alert = { name: string; severity: string; url: string };

const alerts: Alert[] = read('deploy/prometheus/alerts.yml')
  .split('- alert: ')
  .slice(1)
  .map((text) => ({
    name: /^\w+/.exec(text)?.[0] ?? '',
    severity: /severity: (\w+)/.exec(text)?.[1] ?? '',
    url: /runbook_url: (\S+)/.exec(text)?.[1] ?? '',
  }));
const pages = projectFiles('docs/run/runbooks/*.md').filter((page) => basename(page) !== 'README.md');

suite('every alert', () => {
  test('has a severity and leads to its own section of a runbook', () => {
    assert.ok(alerts.length > 25);
    for (const { name, severity, url } of alerts) {
      assert.match(severity, /^(critical|warning)$/, name);
      const [page = '', anchor = ''] = url.replace(BASE, '').split('#');
      assert.ok(pages.includes(page), `${name}: ${url} is no page of docs/run/runbooks`);
      assert.equal(anchor, name.toLowerCase());
      assert.ok(anchors(read(page)).has(anchor), `${page} has no section ${name}`);
    }
  });

  test('has no runbook left over, and each says how to find the cause and what to do', () => {
    const sections = pages.flatMap((page) => read(page).split(/^## /m).slice(1));
    const names = sections.map((section) => section.split('\n', 1)[0] ?? '');
    assert.deepEqual(names.toSorted(), alerts.map(({ name }) => name).toSorted());
    for (const section of sections)
      assert.match(section, /\*\*(Act|Find the cause)|\| remedy \||\| act \|/, section.slice(0, 40));
  });

  test('is in the index with its severity', () => {
    const rows = [...read('docs/run/runbooks/README.md').matchAll(/^\| \[(\w+)\]\(.*?\) \| (\w+) \|/gm)];
    assert.deepEqual(
      rows.map(([, name, severity]) => [name, severity]),
      alerts.map(({ name, severity }) => [name, severity]),
    );
  });
});
