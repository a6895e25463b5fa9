/** Longer ids and names would not fit an index; they are found by this much of them. */
const MAX_LENGTH = 500;

/** PostgreSQL stores no NUL and no lone surrogates. All texts of users pass through here, also search terms. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** An id or a name as the record keeps it. */
export function recordText(text: string): string {
  const whole = storable(text);
  return whole.length <= MAX_LENGTH ? whole : whole.slice(0, MAX_LENGTH).toWellFormed();
}
