import type { FastifyReply } from 'fastify';
import { DEVICE_COOKIE, DEVICE_DAYS } from './device-cookie.ts';

/** `__Host-`: browsers take it only over TLS (or from localhost), for this host alone and for all its paths. */
export const SESSION_COOKIE = '__Host-millrace';
export const SESSION_DAYS = 7;
/** Of a sign-in under way, which ends on the server after five minutes. */
export const TICKET_COOKIE = '__Host-millrace-sign-in';
const TICKET_SECONDS = 300;
/** While the browser is at a provider to sign in. */
export const BROWSER_COOKIE = '__Host-millrace-sso';
const BROWSER_MINUTES = 15;

const ATTRIBUTES = { path: '/', secure: true, httpOnly: true, sameSite: 'lax' } as const;

export function setSessionCookie(reply: FastifyReply, secret: string | null): void {
  if (secret === null) void reply.clearCookie(SESSION_COOKIE, ATTRIBUTES);
  else void reply.setCookie(SESSION_COOKIE, secret, { ...ATTRIBUTES, maxAge: SESSION_DAYS * 86_400 });
}

/** Stays when the session ends: the browser is known from then on. */
export function setDeviceCookie(reply: FastifyReply, device: string): void {
  void reply.setCookie(DEVICE_COOKIE, device, { ...ATTRIBUTES, maxAge: DEVICE_DAYS * 86_400 });
}

export function setTicketCookie(reply: FastifyReply, ticket: string | null): void {
  const attributes = { ...ATTRIBUTES, sameSite: 'strict' } as const;
  if (ticket === null) void reply.clearCookie(TICKET_COOKIE, attributes);
  else void reply.setCookie(TICKET_COOKIE, ticket, { ...attributes, maxAge: TICKET_SECONDS });
}

/** `lax` lets it come with the page that the provider sends the browser back to. */
export function setBrowserCookie(reply: FastifyReply, browser: string): void {
  void reply.setCookie(BROWSER_COOKIE, browser, { ...ATTRIBUTES, maxAge: BROWSER_MINUTES * 60 });
}
