/** Longer ids and names would not fit an index; they are found by this much of them. */
const MAX_LENGTH = 500;

/** PostgreSQL knows no NUL and no half characters. Everything of users goes through here, also what is searched for. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** An id or a name as the record keeps it. */
export function recordText(text: string): string {
  const whole = storable(text);
  return whole.length <= MAX_LENGTH ? whole : whole.slice(0, MAX_LENGTH).toWellFormed();
}
