/** Words for the actions and the differences of the audit log. Pure. */
export type Entry = {
  sequence: number;
  at: string;
  actor: Record<string, string>;
  action: string;
  objectId: string;
  details: Record<string, unknown>;
};

const ACTIONS: Record<string, string> = {
  'workspace.created': 'created the workspace',
  'workspace.changed': 'renamed the workspace',
  'workspace.second_factor_changed': 'changed whether members need a second factor in',
  'workspace.transferred': 'handed the workspace over',
  'limits.changed': 'changed limits of the workspace',
  'member.left': 'left the workspace',
  'member.invited': 'invited a person',
  'member.joined': 'joined the workspace',
  'member.changed': 'changed the role of',
  'member.removed': 'removed a member',
  'invitation.withdrawn': 'withdrew an invitation',
  'token.created': 'created a token',
  'token.revoked': 'revoked a token',
  'session.started': 'signed in',
  'session.ended': 'signed out',
  'session.revoked': 'ended a session',
  'session.others_revoked': 'ended all their other sessions',
  'session.refused': 'tried to sign in, and was refused, as',
  'session.misused': 'lost a session whose cookie came from another browser',
  'password.changed': 'changed their password',
  'password.reset': 'chose a new password by a link',
  'password.link_mailed': 'asked for a link to a new password of',
  'password.link_made': 'made a link to a new password of',
  'second_factor.added': 'added a second factor',
  'second_factor.removed': 'removed a second factor',
  'second_factors.removed': 'removed every second factor of',
  'recovery_codes.made': 'made new recovery codes',
  'recovery_code.used': 'signed in or confirmed with a recovery code',
  'passkey.renamed': 'renamed a passkey',
  'passkey.refused': 'was refused with a passkey of',
  'email.link_mailed': 'asked for another email address',
  'email.changed': 'changed their email address',
  'member.link_made': 'made a link for',
  'workspace.deletion_asked': 'asked to delete the workspace',
  'workspace.deletion_undone': 'undid the deletion of the workspace',
  'workspace.removed': 'removed a workspace at its end,',
  'audit_stream.set': 'set the URL for the audit log of',
  'audit_stream.removed': 'stopped sending the audit log of',
  'payload.viewed': 'viewed payloads of',
  'write_key.viewed': 'viewed write keys of',
  'permission.denied': 'was refused a permission for',
  'operator.added': 'made an operator of',
  'operator.removed': 'removed an operator,',
  'single_sign_on.created': 'connected the workspace to a provider',
  'single_sign_on.changed': 'changed single sign-on',
  'single_sign_on.deleted': 'deleted single sign-on',
  'single_sign_on.tested': 'tested single sign-on',
  'single_sign_on.domain_verified': 'proved the domain',
  'single_sign_on.linked': 'linked their account with the provider',
  'single_sign_on.unlinked': 'ended the link of their account with the provider',
  'single_sign_on.refused': 'came from the provider, and was refused by',
  'break_glass.used': 'signed in with a password, past single sign-on',
  'source.created': 'created the source',
  'source.changed': 'changed the source',
  'source.deleted': 'deleted the source',
  'write_key.created': 'added a write key to',
  'write_key.revoked': 'revoked a write key of',
  'event.blocked': 'blocked an event of',
  'event.unblocked': 'unblocked an event of',
  'destination.created': 'created the destination',
  'destination.changed': 'changed the destination',
  'destination.deleted': 'deleted the destination',
  'destination.secret_rotated': 'rotated the secret of',
  'destination.tested': 'sent a test to',
  'destination.probed': 'asked for an attempt now of',
  'delivery.retried': 'asked for an attempt now of',
  'destination.checked_up': 'ran a check-up of',
  'url.checked': 'checked a URL',
  'host.checked': 'looked for the proof of a host',
  'host.proven': 'proved a host',
  'host.proof_forgotten': 'forgot the proof of a host',
  'replay.started': 'started a replay',
  'dead_letter.retried': 'sent a dead letter again',
  'redrive.started': 'started a redrive of dead letters',
  'definition.created': 'created the audience or trait',
  'definition.changed': 'changed the audience or trait',
  'definition.deleted': 'deleted the audience or trait',
  'definition.resynced': 'sent everything again of',
  'deletion.requested': 'asked to erase users',
  'suppression.lifted': 'lifted a suppression',
  'quarantine.redriven': 'put a message back from the quarantine',
  'quarantine.deleted': 'deleted a message of the quarantine',
  'removals.confirmed': 'removed configuration without a row',
};

/** An action of a newer server than this console is shown as its code. */
export function actionWords(action: string): string {
  return ACTIONS[action] ?? action.replace(/[._]/g, ' ');
}

/** Names of things that are gone, as the entries about them told them; entries come newest first. */
export function namesInLog(entries: readonly Entry[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { action, objectId, details } of entries) {
    const isOfObject = !action.startsWith('event.') && !action.startsWith('write_key.');
    const name = details['name'] ?? details['email'];
    if (isOfObject && typeof name === 'string' && !names.has(objectId)) names.set(objectId, name);
  }
  return names;
}

export type Difference = { name: string; before?: string; after: string };

/** Each detail is a difference. A change names its new values only; an older entry of the same thing may have the value before. */
export function differencesOf(entry: Entry, older: readonly Entry[]): Difference[] {
  const { action, objectId, details } = entry;
  const { from, to } = details;
  if (action === 'member.changed') return [{ name: 'role', before: valueWords(from), after: valueWords(to) }];
  const isChange = action.endsWith('.changed');
  // A blocked event has a name, too, and the id of its source.
  const noun = action.slice(0, action.indexOf('.') + 1);
  const before = isChange ? older.filter((one) => one.objectId === objectId && one.action.startsWith(noun)) : [];
  return Object.entries(details).map(([name, value]) => {
    // The log names the settings that were set, not their values: a shorter list is no change of a longer one.
    if (name === 'settings') return { name: 'settings set', after: valueWords(value) };
    const last = before.find((one) => name in one.details)?.details[name];
    const after = valueWords(value);
    return last === undefined ? { name, after } : { name, before: valueWords(last), after };
  });
}

export function valueWords(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return value.length === 0 ? 'none' : value.join(', ');
  }
  return JSON.stringify(value);
}

/** Sessions that begin and end: most entries, and rarely looked for. */
export function isSignIn({ action }: Entry): boolean {
  return action === 'session.started' || action === 'session.ended';
}

/** Reads and refusals, which are many in a busy workspace. */
export function isRead({ action }: Entry): boolean {
  return action.endsWith('.viewed') || action === 'permission.denied';
}

/** Whether a person finds the entry by this text: its words, its code, its ids or its values. */
export function matches(entry: Entry, who: string, what: string, filter: string): boolean {
  const wanted = filter.trim().toLowerCase();
  const { action, objectId, details, actor } = entry;
  const text = [who, what, actionWords(action), action, objectId, JSON.stringify(details), actor['address'] ?? ''];
  return text.join(' ').toLowerCase().includes(wanted);
}
