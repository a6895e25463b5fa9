/** A cell is what one NATS cluster carries. The cluster of MILLRACE_NATS_URL is `main`. */
export const MAIN_CELL = 'main';
export const CELL_NAME = /^[a-z][a-z0-9-]{0,31}$/;

export type Cell = {
  name: string;
  url: string;
  /** Takes the calls of this cell's sources while the cell is away. */
  spare?: string;
};

/** Streams have the same names in every cell: where names of several cells meet, `main` keeps the plain one. */
export function nameInCell(cell: string, name: string): string {
  return cell === MAIN_CELL ? name : `${cell}/${name}`;
}

export function readNameInCell(text: string): { cell: string; name: string } {
  const [cell = '', name] = text.split('/');
  return name === undefined ? { cell: MAIN_CELL, name: text } : { cell, name };
}
