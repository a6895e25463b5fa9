/** JSON in lines, with the values of some fields marked. */
export type Piece = { kind: 'plain' | 'key' | 'mark'; text: string };
export type JsonLine = readonly Piece[];

export function jsonLines(value: unknown, marked: ReadonlySet<string>): JsonLine[] {
  return write(value, '', marked);
}

function write(value: unknown, path: string, marked: ReadonlySet<string>): Piece[][] {
  if (marked.has(path) && path !== '') return [[{ kind: 'mark', text: JSON.stringify(value) ?? 'null' }]];
  if (Array.isArray(value))
    return block(
      '[]',
      value.map((each: unknown) => write(each, '\u0000', marked)),
    );
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, each]) => {
      const lines = write(each, path === '' ? name : `${path}.${name}`, marked);
      return withHead(
        [
          { kind: 'key', text: JSON.stringify(name) },
          { kind: 'plain', text: ': ' },
        ],
        lines,
      );
    });
    return block('{}', fields);
  }
  return [[{ kind: 'plain', text: JSON.stringify(value) ?? 'null' }]];
}

function withHead(head: Piece[], [first = [], ...rest]: Piece[][]): Piece[][] {
  return [[...head, ...first], ...rest];
}

function block(brackets: string, entries: readonly Piece[][][]): Piece[][] {
  if (entries.length === 0) return [[{ kind: 'plain', text: brackets }]];
  const inner = entries.flatMap((lines, place) =>
    lines.map((line, row): Piece[] => {
      const hasComma = row === lines.length - 1 && place < entries.length - 1;
      return [{ kind: 'plain', text: '  ' }, ...line, ...(hasComma ? [{ kind: 'plain', text: ',' } as const] : [])];
    }),
  );
  return [[{ kind: 'plain', text: brackets.slice(0, 1) }], ...inner, [{ kind: 'plain', text: brackets.slice(1) }]];
}
