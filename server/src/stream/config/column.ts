/** One 32-bit number for each record of a table: it grows as records come, and takes four bytes for each. */
type Column = { get(record: number): number; set(record: number, value: number): void };

const FIRST = 1_024;

export function openColumn(): Column {
  let values = new Uint32Array(FIRST);
  return {
    get: (record) => values[record] ?? 0,
    set(record, value) {
      if (record >= values.length) {
        const more = new Uint32Array(Math.max(record + 1, Math.ceil(values.length * 1.5)));
        more.set(values);
        values = more;
      }
      values[record] = value;
    },
  };
}
