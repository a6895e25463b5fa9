/**
 * Finds or makes the account of a person whom the provider of a workspace has signed in. The issuer and the subject name the person. The
 * email address never finds an account: the owner of a workspace chooses its provider, and a provider can claim any address. A new person
 * gets an account that belongs to the workspace; the account of another one is linked by its own password, in `linkPerson`.
 */
import { appendAudit } from '../../store/audit-log.ts';
import {
  countOtherOwners,
  deleteMember,
  findMember,
  insertMember,
  listMembers,
  setMemberRole,
} from '../../store/members.ts';
import type { MemberRow } from '../../store/members.ts';
import { newId } from '../../store/new-id.ts';
import type { Tx } from '../../store/open-store.ts';
import { deleteIdentitiesOf, findIdentity, insertIdentity } from '../../store/sso-identities.ts';
import { insertUser, setProfile } from '../../store/users.ts';
import { revokeMadeBy } from '../access/maker-rights.ts';
import type { RoleName } from '../access/permissions.ts';
import type { Person, RefusalKind } from './read-person.ts';

export type Placing = {
  workspaceId: string;
  issuer: string;
  person: Person;
  /** Whether groups decide about roles; otherwise people keep the role that they have. */
  hasGroups: boolean;
  address: string;
  at: Date;
};

/** A refusal is a value: the removal of a member who lost all groups has to be committed. */
export type Placed = { ok: true; userId: string } | { ok: false; why: RefusalKind };

/** The caller holds the lock of the connection, so that a person who signs in twice at once gets one account. */
export async function placePerson(tx: Tx, placing: Placing): Promise<Placed> {
  const { workspaceId, issuer, person } = placing;
  const userId = await findIdentity(tx, { workspaceId, issuer, subject: person.subject });
  const member = userId === undefined ? undefined : await findMember(tx, { workspaceId, userId });
  return member === undefined ? join(tx, placing) : comeBack(tx, member, placing);
}

async function join(tx: Tx, placing: Placing): Promise<Placed> {
  const { workspaceId, issuer, person, address, at } = placing;
  const { subject, email, name, role } = person;
  if (role === undefined) return { ok: false, why: 'no_role' };
  if (await isAddressOfMember(tx, workspaceId, email)) return { ok: false, why: 'address_taken' };
  const userId = newId('usr');
  await insertUser(tx, { id: userId, email, name, passwordHash: null, belongsTo: workspaceId });
  await insertMember(tx, { workspaceId, userId, role });
  await insertIdentity(tx, { workspaceId, issuer, subject, userId });
  const actor = { kind: 'user', id: userId, address };
  const details = { email, role, singleSignOn: true };
  await appendAudit(tx, workspaceId, { at, actor, action: 'member.joined', objectId: userId, details });
  return { ok: true, userId };
}

async function comeBack(tx: Tx, member: MemberRow, placing: Placing): Promise<Placed> {
  const { workspaceId, person, hasGroups } = placing;
  const { user_id: userId } = member;
  if (hasGroups && person.role !== member.role && !(await mustStay(tx, member))) {
    if (person.role === undefined) return leave(tx, member, placing);
    await changeRole(tx, member, { ...placing, role: person.role });
  }
  const { email, name } = person;
  const isNew = email !== member.email || name !== member.name;
  const isFree =
    email.toLowerCase() === member.email.toLowerCase() || !(await isAddressOfMember(tx, workspaceId, email));
  if (member.is_managed && isNew && isFree) await setProfile(tx, { id: userId, email, name });
  return { ok: true, userId };
}

/** The provider takes no role from break-glass owners, nor from the last owner. */
async function mustStay(
  tx: Tx,
  { workspace_id: workspaceId, user_id: userId, role, break_glass }: MemberRow,
): Promise<boolean> {
  return role === 'owner' && (break_glass || (await countOtherOwners(tx, { workspaceId, userId })) === 0);
}

async function changeRole(
  tx: Tx,
  member: MemberRow,
  { workspaceId, role, at }: Placing & { role: RoleName },
): Promise<void> {
  const { user_id: userId } = member;
  await setMemberRole(tx, { workspaceId, userId, role });
  const details = { from: member.role, to: role, singleSignOn: true };
  await appendAudit(tx, workspaceId, { at, actor: PROVIDER, action: 'member.changed', objectId: userId, details });
}

/** Ends the sessions, too: they end with the membership. */
async function leave(tx: Tx, member: MemberRow, { workspaceId, at }: Placing): Promise<Placed> {
  const { user_id: userId, email, role } = member;
  await deleteMember(tx, { workspaceId, userId });
  const revokedTokens = await revokeMadeBy(tx, workspaceId, userId);
  const details = { email, role, revokedTokens, singleSignOn: true };
  await appendAudit(tx, workspaceId, { at, actor: PROVIDER, action: 'member.removed', objectId: userId, details });
  return { ok: false, why: 'no_role' };
}

const PROVIDER = { kind: 'provider' };

/** Of this workspace only: no answer tells whether an address has an account elsewhere. */
async function isAddressOfMember(tx: Tx, workspaceId: string, email: string): Promise<boolean> {
  const members = await listMembers(tx, workspaceId);
  return members.some((member) => member.email.toLowerCase() === email.toLowerCase());
}

export type Linking = Pick<Placing, 'workspaceId' | 'issuer'> & { subject: string; userId: string };

/** The account has proven itself with its password; the person has proven themselves at the provider. */
export async function linkPerson(tx: Tx, { workspaceId, issuer, subject, userId }: Linking): Promise<Placed> {
  const known = await findIdentity(tx, { workspaceId, issuer, subject });
  if (known !== undefined && known !== userId) return { ok: false, why: 'identity_taken' };
  await deleteIdentitiesOf(tx, { workspaceId, userId });
  await insertIdentity(tx, { workspaceId, issuer, subject, userId });
  return { ok: true, userId };
}
