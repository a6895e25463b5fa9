/** Reads server-sent events from pieces of text: a piece may end anywhere. Each event has JSON in its `data`. */
export type ServerSentReader = (piece: string) => unknown[];

/** An event longer than this is no event of ours. */
const MOST_CHARS = 1_000_000;

export function openServerSentReader(): ServerSentReader {
  let rest = '';
  return (piece) => {
    rest += piece;
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > MOST_CHARS) rest = '';
    return blocks.flatMap(readBlock);
  };
}

function readBlock(block: string): unknown[] {
  const data = block
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n');
  if (data === '') return [];
  try {
    return [JSON.parse(data)];
  } catch {
    return [];
  }
}
