/** A problem of the API as a sentence about the field that people see: "must be a number" becomes "The number must be a number." */
const FIELD_WORDS: Readonly<Record<string, string>> = {
  '': 'It',
  name: 'The name',
  event: 'The name',
  type: 'The type',
  atLeast: 'The number',
  lessThan: 'The number',
  exactly: 'The number',
  settleSeconds: 'The wait',
  window: 'The window',
  'between/from': 'The first time',
  'between/to': 'The last time',
  sum: 'The field',
  min: 'The field',
  max: 'The field',
  average: 'The field',
  field: 'The field',
  trait: 'The trait',
  value: 'The value',
  values: 'The value',
  audience: 'The audience',
};

export function problemWords(field: string, message: string): string {
  const [, rule, part = ''] = /^where\/(\d+)\/(\w+)$/.exec(field) ?? [];
  const subject =
    rule === undefined ? FIELD_WORDS[field] : `In rule ${Number(rule) + 1}, the ${part.replace(/s$/, '')}`;
  const claim = isTimeless(field, message) ? 'needs a date and a time' : message;
  const sentence = `${subject ?? `The field ${field}`} ${claim}`;
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** People choose a date: the form in which the API writes it is no help to them. */
function isTimeless(field: string, message: string): boolean {
  return field.startsWith('between/') && message.startsWith('must be a time');
}
