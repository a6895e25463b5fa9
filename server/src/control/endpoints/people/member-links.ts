/** Links that an admin has made for a member. Where the installation sends mail they go to the member, and the admin never sees them. */
import { MemberLink, NewEmailLink } from '@millrace/contract/control';
import { countRecentLinks, type LinkKind } from '../../../store/account-links.ts';
import type { MemberRow } from '../../../store/members.ts';
import type { RoleName } from '../../access/permissions.ts';
import { HANDED_OVER_MS, makeAccountLink, MAX_RECENT_LINKS } from '../../mail/account-link.ts';
import { addMail } from '../../mail/add-mail.ts';
import { confirmMail, resetMail } from '../../mail/write-mail.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { type ApiRequest, type Route, route } from '../../http/route.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { handOverProblem } from './hand-over.ts';
import { findOther, mustBeOursToGive } from './members.ts';

const WRITE = { permission: 'members:write', answer: MemberLink, status: 201 } as const;

export const memberLinkRoutes: Route[] = [
  route({
    method: 'POST',
    url: '/api/v1/members/:userId/password-link',
    summary: 'Makes a link to a new password for a member: sent by mail, or shown once by this answer',
    ...WRITE,
    prepare: ({ actor: { id: makerId, isBound }, params: { userId } }, { store }) =>
      store.asSystem((tx) => handOverProblem(tx, { userId, makerId, isBound })),
    async handle(request, needs) {
      const member = await findOther(request);
      // Its holder can take the role of the member.
      mustBeOursToGive(member.role as RoleName, request.actor);
      if (needs.mail === undefined) mustHaveNone(request.prepared as string | undefined);
      return makeLink({ kind: 'password', member }, request, needs);
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/members/:userId/email-link',
    summary:
      'Makes a link with which a member confirms a new address: sent by mail there, or shown once by this answer',
    body: NewEmailLink,
    ...WRITE,
    async handle(request, needs) {
      const member = await findOther(request);
      return makeLink({ kind: 'email', member, newEmail: request.body.email }, request, needs);
    },
  }),
];

function mustHaveNone(message: string | undefined): void {
  if (message !== undefined) throw new ApiProblem('not_allowed', [{ path: '/userId', message }]);
}

function hasNoPassword(): ApiProblem {
  const message = 'single sign-on made this account: it has no password, and the provider has its address';
  return new ApiProblem('not_allowed', [{ path: '/userId', message }]);
}

type Asked = { kind: LinkKind; member: MemberRow; newEmail?: string };

async function makeLink(asked: Asked, { tx, actor, audit }: ApiRequest, needs: ControlNeeds) {
  const { kind, member, newEmail } = asked;
  const { mail, keyRing, now } = needs;
  const { user_id: userId } = member;
  if (member.is_managed) throw hasNoPassword();
  if ((await countRecentLinks(tx, userId, kind)) >= MAX_RECENT_LINKS) throw new ApiProblem('too_many_tries');
  const given = newEmail === undefined ? {} : { newEmail };
  const handed = mail === undefined ? { validMs: HANDED_OVER_MS } : {};
  const link = await makeAccountLink(tx, { kind, userId, createdBy: actor.id, ...given, ...handed }, now());
  const { expiresAt, secret, path } = link;
  if (mail !== undefined) {
    const text = kind === 'password' ? resetMail({ ...mail, secret }) : confirmMail({ ...mail, secret });
    const about = { kind: `member_${kind}`, workspaceId: actor.workspaceId, to: newEmail ?? member.email, expiresAt };
    await addMail(tx, { ...about, ...text }, keyRing);
  }
  const details = { kind, email: newEmail ?? member.email, sentByMail: mail !== undefined };
  await audit('member.link_made', userId, { details });
  const shown = mail === undefined ? { token: secret, link: path } : {};
  return { sentByMail: mail !== undefined, expiresAt: expiresAt.toISOString(), ...shown };
}
