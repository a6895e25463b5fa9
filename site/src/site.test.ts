import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { drawDiagram, widenParticipants } from './diagrams.ts';
import { sidebarOf } from './sidebar.ts';
import { pageOf, siteLink } from './site-pages.ts';
import { folderOf, withRelease } from './versions.ts';

suite('links of the documents', () => {
  test('lead to pages, from wherever they stand', () => {
    assert.equal(siteLink('docs/use/filters.md', '../run/settings.md#roles'), '/run/settings.md#roles');
    assert.equal(siteLink('docs/README.md', 'measurements/README.md'), '/measurements/index.md');
    assert.equal(siteLink('docs/README.md', '../CONTRIBUTING.md'), '/inside/contributing.md');
    assert.equal(siteLink('README.md', 'docs/README.md#you-run-it'), '/index.md#you-run-it');
  });

  test('lead into the repository where the site has no page', () => {
    const repository = 'https://github.com/millrace/millrace';
    assert.equal(siteLink('docs/use/collect-api.md', '../../contract/cases'), `${repository}/tree/main/contract/cases`);
    assert.equal(siteLink('docs/run/settings.md', '../../LICENSE'), `${repository}/blob/main/LICENSE`);
  });

  test('stay as they are when their file is missing, so that the build reports them', () => {
    assert.equal(siteLink('docs/README.md', 'nowhere.md'), 'nowhere.md');
  });

  test('lead to openapi.json on our own origin', () => {
    assert.equal(siteLink('docs/use/control-api.md', 'openapi.json'), 'openapi.json');
  });
});

test('Markdown outside of docs/ is a page only where the table says so', () => {
  assert.equal(pageOf('server/README.md'), undefined);
  assert.equal(pageOf('clients/go/README.md'), 'use/clients/go.md');
});

test('the sidebar has a group for each reader and an entry for each link', () => {
  const index = '# Docs\n\n## You run it\n\n- [Settings](run/settings.md): all\n- text\n\n## Empty\n';
  assert.deepEqual(sidebarOf(index), [{ text: 'You run it', items: [{ text: 'Settings', link: '/run/settings' }] }]);
});

suite('releases', () => {
  test('have a folder for each minor version, which a patch replaces', () => {
    assert.equal(folderOf('1.2.3-rc.1'), '1.2');
    assert.throws(() => folderOf('next'), /next is no version/);
  });

  test('are listed newest first, by number and not by letter', () => {
    const versions = ['0.9.0', '0.10.0', '0.9.4'].reduce(withRelease, []);
    assert.deepEqual(
      versions.map(({ path }) => path),
      ['/0.10/', '/0.9/'],
    );
  });
});

suite('diagrams', () => {
  test('ask for no font and bring no style sheet', () => {
    const svg = drawDiagram('flowchart LR\n  a --> b\n');
    assert.match(svg, /^<div class="diagram" v-pre><svg role="img"/);
    assert.doesNotMatch(svg, /https:\/\/|<style/);
  });

  test('give a long message room between its participants', () => {
    const short = 'sequenceDiagram\n  participant A as a\n  participant B as b\n  A->>B: hi\n';
    const long = short.replace('hi', 'a message that is much longer than the names of both');
    assert.equal(widenParticipants(short), short);
    assert.ok(widenParticipants(long).length > long.length + 10);
  });
});
