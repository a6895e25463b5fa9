/** The changelogs are written by hand, in the form of Keep a Changelog. A release takes its notes from them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';

const CHANGELOGS = [
  { title: 'Server, console and command line', file: 'CHANGELOG.md' },
  { title: 'Node client', file: 'clients/node/CHANGELOG.md' },
  { title: 'Go client', file: 'clients/go/CHANGELOG.md' },
] as const;

export type Notes = {
  text: string;
  /** The changelogs that have no section of this version. */
  missing: string[];
};

/** The sections of a version; where there is none, that of Unreleased. */
export function releaseNotes(version: string, rootDir: string = ROOT_DIR): Notes {
  const missing: string[] = [];
  const parts = CHANGELOGS.flatMap(({ title, file }) => {
    const changelog = readFileSync(join(rootDir, file), 'utf8');
    const own = sectionOf(changelog, version);
    if (own === undefined) missing.push(file);
    const section = own ?? sectionOf(changelog, 'Unreleased') ?? '';
    return section === '' ? [] : [`## ${title}\n\n${section}\n`];
  });
  return { text: `# Millrace ${version}\n\n${parts.join('\n')}`, missing };
}

/** The text below `## <name>`, with or without a date, up to the next section; `undefined` when there is no such section. */
export function sectionOf(changelog: string, name: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/[\s\]]/, 1)[0]?.replace('[', '') === name);
  return section?.slice(section.indexOf('\n')).trim();
}

/** Turns the section Unreleased into that of the version. Returns the changelogs that it has changed. */
export function closeUnreleased(version: string, date: string, rootDir: string = ROOT_DIR): string[] {
  return CHANGELOGS.flatMap(({ file }) => {
    const path = join(rootDir, file);
    const before = readFileSync(path, 'utf8');
    if ((sectionOf(before, 'Unreleased') ?? '') === '' || sectionOf(before, version) !== undefined) return [];
    writeFileSync(path, before.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} - ${date}`));
    return [file];
  });
}
