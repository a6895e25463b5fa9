/** The sidebar is the index of docs/README.md: its sections by reader, and the first link of each entry. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DIR, siteLink } from './site-pages.ts';

export type SidebarEntry = { text: string; link?: string; items?: SidebarEntry[]; collapsed?: boolean };

const INDEX = 'docs/README.md';
const ENTRY = /^- \[([^\]]+)\]\(([^)]+)\)/;

export function readSidebar(): SidebarEntry[] {
  return sidebarOf(readFileSync(join(ROOT_DIR, INDEX), 'utf8'));
}

/** One group for each `##`; an entry with further links below it (indented) is a group inside the group. */
export function sidebarOf(index: string): SidebarEntry[] {
  const groups: (SidebarEntry & { items: SidebarEntry[] })[] = [];
  for (const line of index.split('\n')) {
    const heading = /^## (.+)$/.exec(line)?.[1];
    if (heading !== undefined) groups.push({ text: heading, items: [] });
    const [, text, href] = ENTRY.exec(line) ?? [];
    if (text === undefined || href === undefined) continue;
    groups.at(-1)?.items.push({ text: text.replaceAll('`', ''), link: siteLink(INDEX, href).replace(/\.md\b/, '') });
  }
  return groups.filter(({ items }) => items.length > 0);
}
