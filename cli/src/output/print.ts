/** Everything that a command prints goes through here: text of others is made harmless for a terminal. */
import process from 'node:process';
import { styleText } from 'node:util';
import { visible } from '@millrace/console/format/texts';

type Style = Parameters<typeof styleText>[0];

/** Text of others on one line: no escape sequence, line break or direction override of an event reaches the terminal. */
export function inline(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** Text of others over several lines, each indented, so that none of them can pass for a line of ours. */
export function indented(text: string, indent = '    '): string {
  return visible(text)
    .split('\n')
    .map((line) => `${indent}${line}`)
    .join('\n');
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** One document of JSON. Characters that move a cursor are written as `\u…`, which is the same value. */
export function printJson(value: unknown): void {
  print(jsonText(value, 2));
}

/** One line of JSON, for streams. */
export function printJsonLine(value: unknown): void {
  print(jsonText(value));
}

export function jsonText(value: unknown, indent?: number): string {
  return visible(JSON.stringify(value, null, indent));
}

/** A remark beside the result, on standard error. */
export function remark(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Colours only on a terminal, and not with NO_COLOR. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout, validateStream: true });
}
