/** A call from the words and options of `millrace send`. Pure. */
import { CALL_TYPES, type CallType, isCallType } from '@millrace/contract';
import { Failure } from '../../output/failures.ts';

export type CallOptions = {
  user?: string;
  anonymous?: string;
  group?: string;
  previous?: string;
  prop?: string[];
  trait?: string[];
  context?: string;
  messageId?: string;
  timestamp?: string;
};

const TAKES_NAME: ReadonlySet<CallType> = new Set(['track', 'page', 'screen']);
const TAKES_TRAITS: ReadonlySet<CallType> = new Set(['identify', 'group']);

export function makeCall(type: string, name: string | undefined, options: CallOptions, newId: () => string): object {
  if (!isCallType(type)) {
    throw usage(`${type} is no type of a call.`, `Give one of ${CALL_TYPES.join(', ')}, or batch.`);
  }
  if (name !== undefined && !TAKES_NAME.has(type)) throw usage(`A call of type ${type} has no name.`, NAME_HINT[type]);
  const hasTraits = TAKES_TRAITS.has(type);
  if (options.prop !== undefined && !TAKES_NAME.has(type))
    throw usage(`A call of type ${type} has no properties.`, 'Use --trait.');
  if (options.trait !== undefined && !hasTraits) throw usage(`A call of type ${type} has no traits.`, 'Use --prop.');
  return {
    type,
    messageId: options.messageId ?? newId(),
    ...(name === undefined ? {} : { [type === 'track' ? 'event' : 'name']: name }),
    ...named('userId', options.user),
    ...named('anonymousId', options.anonymous),
    ...named('groupId', options.group),
    ...named('previousId', options.previous),
    ...named('timestamp', options.timestamp),
    ...(options.prop === undefined ? {} : { properties: readPairs(options.prop, '--prop') }),
    ...(options.trait === undefined ? {} : { traits: readPairs(options.trait, '--trait') }),
    ...(options.context === undefined ? {} : { context: readObject(options.context) }),
  };
}

const NAME_HINT: Partial<Record<CallType, string>> = {
  identify: 'Give the user with --user, and what is known of the user with --trait.',
  group: 'Give the group with --group, and what is known of it with --trait.',
  alias: 'Give the new id with --user and the old one with --previous.',
};

const named = (field: string, value: string | undefined) => (value === undefined ? {} : { [field]: value });

/** `revenue=12.5` is a number, `plan=pro` a text, and `zip='"0123"'` a text, since values may be JSON. */
export function readPairs(pairs: readonly string[], option: string): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw usage(`${option} ${pair} is no pair.`, `Write ${option} name=value.`);
      return [pair.slice(0, at), readValue(pair.slice(at + 1))];
    }),
  );
}

export function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function readObject(text: string): unknown {
  const value = readValue(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw usage('--context is no JSON object.', `Write --context '{"ip":"203.0.113.7"}'.`);
}

/** One call a line. */
export function readBatch(text: string): object[] {
  const calls = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const value = readValue(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return [value];
    throw usage(
      `Line ${index + 1} is no JSON object.`,
      'Write one call a line, such as {"type":"track","userId":"u1","event":"Signed Up"}.',
    );
  });
  if (calls.length === 0) throw usage('There are no calls on standard input.', 'Write one call a line, as JSON.');
  return calls;
}

function usage(what: string, todo: string | undefined): Failure {
  return new Failure(what, { exit: 'usage', ...(todo === undefined ? {} : { todo }) });
}
