import { attackFromReceivers } from '../inject/attack-from-receivers.ts';
import { attackSignIn } from '../inject/attack-sign-in.ts';
import { collectBacklog } from '../inject/collect-backlog.ts';
import { floodTenant } from '../inject/flood-tenant.ts';
import { hangReceivers } from '../inject/hang-receivers.ts';
import { isolateTrouble } from '../inject/isolate-trouble.ts';
import { limitTenant } from '../inject/limit-tenant.ts';
import { openManyLanes } from '../inject/open-many-lanes.ts';
import { quietReceivers } from '../inject/quiet-receivers.ts';
import { DELIVERED, type FaultEntries } from './fault-entry.ts';

/** Receivers, workspaces and strangers that misbehave, and those beside them. */
export const FAULTS_OF_NEIGHBOURS = {
  isolation: {
    run: isolateTrouble,
    promise: 'receivers that hang, fail or are flooded are not noticed by those of others',
    injects: 'receivers that hang, answer 500 or are flooded',
    against: ['receivers'],
    invariants: ['kept', 'own', 'others', 'room'],
    covers: ['receivers-hang'],
  },
  'tenant-flood': {
    run: floodTenant,
    promise: 'a workspace that fills its shares of storage costs its neighbours no call, no delivery and no time',
    injects: 'a workspace fills its shares of lanes, dead letters and configuration',
    against: ['clients', 'receivers'],
    invariants: [...DELIVERED, 'others'],
    covers: ['tenant-greedy'],
  },
  'tenant-limits': {
    run: limitTenant,
    promise:
      'a workspace at the limit of everything at once costs another one no call, no delivery, no answer and no time',
    injects: 'a workspace at the limit of calls, objects, hosts, storage, jobs, tails and requests at once',
    against: ['clients', 'receivers'],
    invariants: ['kept', 'answers', 'others', 'room'],
    covers: ['tenant-greedy'],
  },
  backlog: {
    run: collectBacklog,
    promise:
      'a backlog for one receiver gathers and drains unnoticed by others, new events first, and its end is foretold',
    injects: 'a receiver is down until thousands of deliveries wait, and comes back',
    against: ['receivers'],
    invariants: ['kept', 'times', 'others', 'heals'],
    covers: ['backlog-large'],
  },
  'many-lanes': {
    run: openManyLanes,
    promise: 'many lanes that fall due in the same moment freeze nobody else',
    injects: 'very many receivers fail, and NATS is away until all of their lanes are due in the same moment',
    against: ['receivers', 'NATS'],
    invariants: ['others', 'room', 'heals'],
    covers: ['retry-storm'],
  },
  'hanging-receivers': {
    run: hangReceivers,
    promise: 'many receivers that never answer cost bounded room, and nobody else anything',
    injects: 'hundreds of receivers that take connections and never answer',
    against: ['receivers'],
    invariants: ['kept', 'others', 'room'],
    covers: ['receivers-hang'],
  },
  'hostile-receivers': {
    run: attackFromReceivers,
    promise: 'receivers that answer with floods, bombs and resets cost bounded room, and nobody else anything',
    injects: 'endless answers, one byte at a time, gzip bombs, resets and renegotiations',
    against: ['receivers'],
    invariants: ['kept', 'own', 'others', 'room'],
    covers: ['receivers-hostile', 'receivers-drip'],
  },
  'quiet-receivers': {
    run: quietReceivers,
    promise: 'receivers that were silent for long, or are new, do not wait behind hundreds that begin to hang',
    injects: 'hundreds of receivers begin to hang beside those that were silent for long, or are new',
    against: ['receivers'],
    invariants: ['kept', 'others', 'times'],
    covers: ['receivers-hang'],
  },
  'sign-in-attack': {
    run: attackSignIn,
    promise:
      'while guessers try passwords from 200 addresses, people sign in within a second, and control takes less than a core',
    injects: 'hundreds of guesses a second from 200 addresses',
    against: ['clients'],
    invariants: ['answers', 'others', 'room'],
    covers: ['sign-in-guessed'],
  },
} as const satisfies FaultEntries;
