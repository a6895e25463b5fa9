/** Targets as they are typed, and the settings that they become. Stored header values are never shown: they are kept or replaced. */
import { nextKey } from '../filters/rules.ts';

/** `isStored`: the server has the value and keeps it with its URL. */
export type DraftHeader = { key: number; name: string; value: string; isStored: boolean };
export type DraftTarget = { key: number; url: string; savedUrl: string | undefined; headers: DraftHeader[] };

export type SavedTarget = { url: string; headers?: Record<string, unknown> };
export type TargetSettings = { url: string; headers?: Record<string, string | { set: true }> };

export const MOST_TARGETS = 5;
export const MOST_HEADERS = 20;

export function emptyTarget(): DraftTarget {
  return { key: nextKey(), url: '', savedUrl: undefined, headers: [] };
}

export function emptyHeader(): DraftHeader {
  return { key: nextKey(), name: '', value: '', isStored: false };
}

export function draftTarget({ url, headers = {} }: SavedTarget): DraftTarget {
  const names = Object.keys(headers);
  return {
    key: nextKey(),
    url,
    savedUrl: url,
    headers: names.map((name) => ({ key: nextKey(), name, value: '', isStored: true })),
  };
}

/** A new URL needs its headers anew: a value that was made for one receiver must not reach another one. */
export function isKept(target: DraftTarget, header: DraftHeader): boolean {
  return header.isStored && target.savedUrl === target.url.trim();
}

export function headerProblem(target: DraftTarget, header: DraftHeader): string | undefined {
  if (isKept(target, header)) return undefined;
  if (header.name.trim() === '') return header.value === '' ? undefined : 'Type the name of the header.';
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header.name.trim())) return 'A header name has letters, digits and dashes.';
  const name = header.name.trim().toLowerCase();
  if (target.headers.some((other) => other !== header && other.name.trim().toLowerCase() === name)) {
    return 'This header is there twice.';
  }
  if (header.value !== '') return undefined;
  return header.isStored ? 'The URL is another one, so type this value again.' : 'Type the value of the header.';
}

export function settingsOf(targets: readonly DraftTarget[]): TargetSettings[] {
  return targets.map((target) => {
    const headers = target.headers.filter(({ name }) => name.trim() !== '');
    if (headers.length === 0) return { url: target.url.trim() };
    return {
      url: target.url.trim(),
      headers: Object.fromEntries(
        headers.map((header) => [header.name.trim(), isKept(target, header) ? { set: true as const } : header.value]),
      ),
    };
  });
}

/** The first thing that stops the targets from being saved, in words. The server checks them again. */
export function targetsProblem(targets: readonly DraftTarget[]): string | undefined {
  for (const [place, target] of targets.entries()) {
    const name = targets.length === 1 ? 'the target' : `target ${place + 1}`;
    if (target.url.trim() === '') return `Type the URL of ${name}.`;
    if (!looksWhole(target.url)) return `The URL of ${name} is not whole yet.`;
    if (targets.findIndex(({ url }) => url.trim() === target.url.trim()) < place)
      return `Target ${place + 1} has a URL that is there already.`;
    const header = target.headers.map((each) => headerProblem(target, each)).find((problem) => problem !== undefined);
    if (header !== undefined) return `Headers of ${name}: ${header}`;
  }
  return undefined;
}

/** Whether a typed URL is worth a check: it is whole, and the destination does not have it already. */
export function needsCheck(url: string, saved: readonly string[]): boolean {
  return looksWhole(url) && !saved.includes(url.trim());
}

/** Worth a check by the server: below that it is still being typed. */
export function looksWhole(url: string): boolean {
  const text = url.trim();
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}
