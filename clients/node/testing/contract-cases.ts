import { readdirSync, readFileSync } from 'node:fs';

export type Fill = { mark: string; text: string; times: number };

export type CaseFile<Case> = { file: string; kind: string; cases: Case[] };

const folder = new URL('../../../contract/cases/', import.meta.url);

/** The files of contract/cases with the given kind. */
export function caseFiles<Case>(kind: string): CaseFile<Case>[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file): CaseFile<Case> => ({ file, ...JSON.parse(readFileSync(new URL(file, folder), 'utf8')) }))
    .filter((each) => each.kind === kind);
}

export function filled(text: string, fills: readonly Fill[] = []): string {
  return fills.reduce((whole, { mark, text, times }) => whole.replaceAll(mark, () => text.repeat(times)), text);
}
