/** How a destination stands, in words: state and since when, the cause, the consequence, and what to do. Pure. */
import type { Destination, DestinationHealth, TargetErrors } from '@millrace/contract/control';
import { count, counted, milliseconds } from '../../../format/numbers.ts';
import { listed } from '../../../format/listed.ts';
import { capital, localSentence } from '../../../format/sentences.ts';
import { cutText, hostOf } from '../../../format/texts.ts';
import { clock, day, duration, moment } from '../../../format/times.ts';
import type { StateName } from '../../state-mark.tsx';
import { needsAllTargets, numberSetting, targetsOf } from './destination-facts.ts';

export type Told = {
  state: StateName;
  /** One word for lists: "Failing". */
  word: string;
  /** The first words of the sentence. */
  lead: string;
  sentence: string;
  after?: string;
  todo: string;
};

export type Standing = {
  destination: Pick<Destination, 'enabled' | 'paused' | 'pausedAt' | 'pausedBy' | 'settings' | 'updatedAt'>;
  health: DestinationHealth;
  errors?: TargetErrors | undefined;
  /** The sentence of the overview about the deliveries that wait and the end of the oldest. */
  waiting?: string | undefined;
  now: number;
};

type FailingTarget = TargetErrors['targets'][number];
const WEEK_MS = 604_800_000;
const NOTHING = 'Nothing to do.';

export function tellHealth(standing: Standing): Told {
  const { destination, health } = standing;
  if (!destination.enabled) return tellDisabled(standing);
  if (destination.paused) return tellPaused(standing);
  switch (health.lane?.state) {
    case 'failing':
      return tellFailing(standing);
    case 'asked_to_wait':
      return tellAskedToWait(standing);
    case 'draining':
      return tellDraining(standing);
    default:
      return tellFlowing(standing);
  }
}

function tellDisabled({ health }: Standing): Told {
  const depth = health.lane?.depth ?? 0;
  return {
    state: 'skipped',
    word: 'Disabled',
    lead: 'Disabled.',
    sentence: 'New events skip it, and Millrace does not keep them for it.',
    ...(depth === 0
      ? {}
      : { after: `${counted(depth, 'delivery', 'deliveries')} still wait, and their four hours run on.` }),
    todo: 'To do: enable it in its settings; replay stored events if they are needed.',
  };
}

function tellPaused({ destination, health, now }: Standing): Told {
  const since = destination.pausedAt ?? (health.lane?.state === 'paused' ? health.lane.since : destination.updatedAt);
  const by = destination.pausedBy?.name ?? destination.pausedBy?.email;
  const depth = health.lane?.depth ?? 0;
  return {
    state: 'paused',
    word: 'Paused',
    lead: `Paused${by === undefined || by === null ? '' : ` by ${cutText(by, 40)}`} since ${moment(since, now)}.`,
    sentence: 'Millrace sends nothing, and nothing expires.',
    after: depth === 0 ? 'Nothing waits yet.' : `${waitText(depth)}.`,
    todo: `To do: resume within a week, before ${day(Date.parse(since) + WEEK_MS, now)}.`,
  };
}

function tellFailing(standing: Standing): Told {
  const { destination, health, now } = standing;
  const { lane } = health;
  const failing = failingTargets(standing);
  const many = targetsOf(destination).length > 1;
  const causes = failing.map((target) => causeOf(target, now));
  const what =
    causes.length === 0
      ? capital(`${localSentence(lane?.why ?? 'its receiver does not take deliveries', now)}.`)
      : causes.join(' ');
  const enough = needsAllTargets(destination) ? ' All of them are needed.' : ' Either one is enough.';
  const next = lane?.nextAt === null || lane === null ? '' : ` Next probe at ${moment(lane.nextAt, now)}.`;
  return {
    state: 'givenup',
    word: 'Failing',
    lead: `Failing since ${moment(lane?.since ?? now, now)}${lane?.room === 0 ? ', and its lane is full' : ''}.`,
    sentence:
      many && failing.length > 1
        ? `${failing.length === 2 ? 'Neither target takes' : 'No target takes'} deliveries. ${what}`
        : what,
    after: `${lane?.room === 0 ? 'New deliveries become dead letters. ' : ''}${standing.waiting ?? `${waitText(lane?.depth ?? 0)}, and none is lost yet.`}${next}`,
    todo: `To do: ${remedyOf(failing)}${failing.length > 1 ? enough : ''}`,
  };
}

function tellAskedToWait(standing: Standing): Told {
  const { destination, health } = standing;
  const { lane } = health;
  const until = lane?.nextAt ?? null;
  const host = hostOf(targetsOf(destination)[0]?.url ?? 'the receiver');
  const limit = numberSetting(destination, 'maxPerSecond');
  return {
    state: 'waiting',
    word: 'Asked to wait',
    lead: until === null ? 'Asked to wait.' : `Asked to wait until ${clock(until)}.`,
    sentence: `${host} answered that it takes no more for now, and named this time.`,
    after: standing.waiting ?? `${waitText(lane?.depth ?? 0)}.`,
    todo: limit === undefined ? 'Nothing to do. If it comes often, set a rate limit in the settings.' : NOTHING,
  };
}

function tellDraining({ health, now }: Standing): Told {
  const { lane } = health;
  const rate = lane?.deliveriesPerSecond ?? null;
  const clear = lane?.clearInMs ?? null;
  const pace = rate === null ? '' : ` at ${count(Math.max(1, Math.round(rate)))} a second`;
  return {
    state: 'waiting',
    word: 'Recovering',
    lead: `Recovering since ${moment(lane?.since ?? now, now)}.`,
    sentence: `${counted(lane?.depth ?? 0, 'delivery drains', 'deliveries drain')}${pace}${clear === null ? '' : `: done in about ${duration(clear)}`}.`,
    after: 'New events go first.',
    todo: NOTHING,
  };
}

/** Nothing holds the lane up: the last hour and the targets decide. */
function tellFlowing(standing: Standing): Told {
  const { health, now } = standing;
  const { delivered, discarded, expired } = health.lastHour;
  const givenUp = discarded + expired;
  const failing = failingTargets(standing);
  const cause = failing.map((target) => causeOf(target, now)).join(' ');
  const depth = health.lane?.depth ?? 0;
  const waits =
    depth === 0 ? 'Nothing waits.' : `${counted(depth, 'delivery waits', 'deliveries wait')} for the next attempt.`;
  if (givenUp > 0 && delivered === 0) {
    return {
      state: 'givenup',
      word: 'Rejecting',
      lead: `Rejecting every event${sinceOf(failing, now)}.`,
      sentence: cause === '' ? 'No target takes them.' : cause,
      after: `Millrace gave up ${counted(givenUp, 'delivery', 'deliveries')} in the last hour and keeps them as dead letters for 14 days. ${waits}`,
      todo: `To do: ${remedyOf(failing)} Then redrive the dead letters.`,
    };
  }
  if (givenUp > 0) {
    return {
      state: 'givenup',
      word: 'Losing some',
      lead: `Delivering, but Millrace gave up ${count(givenUp)} in the last hour.`,
      sentence: `${count(delivered)} arrived. ${cause}`.trim(),
      after: waits,
      todo: 'To do: look at the reasons below, mend them, then redrive the dead letters.',
    };
  }
  if (failing.length === 0 && delivered === 0 && (health.lastHour.retry > 0 || depth > 0)) {
    return tellNothingArrives(health.lastHour.retry, waits);
  }
  if (failing.length > 0 && (delivered > 0 || depth > 0)) return tellOneFails(standing, failing, waits);
  return tellWell(standing, waits);
}

/** The lists do not read the errors of each target: the counts alone tell that nothing arrives. */
function tellNothingArrives(retries: number, waits: string): Told {
  const told = { state: 'retrying' as const, word: 'Retrying', todo: 'To do: look at its deliveries.' };
  return retries === 0
    ? { ...told, lead: 'Nothing arrived in the last hour.', sentence: waits }
    : { ...told, lead: 'Nothing arrives.', sentence: 'Every attempt of the last hour failed.', after: waits };
}

function tellOneFails(standing: Standing, failing: readonly FailingTarget[], waits: string): Told {
  const { destination, health, now } = standing;
  const cause = failing.map((target) => causeOf(target, now)).join(' ');
  const todo = `To do: ${remedyOf(failing)}`;
  const told = { state: 'retrying' as const, sentence: cause, after: waits };
  if (health.lastHour.delivered === 0) {
    return { ...told, word: 'Retrying', lead: `Nothing arrives${sinceOf(failing, now)}.`, todo };
  }
  if (targetsOf(destination).length === 1) {
    return { ...told, word: 'Retrying', lead: 'Delivering, with retries.', todo: NOTHING };
  }
  const names = listed(failing.map(({ url }) => hostOf(url)));
  return {
    ...told,
    word: 'One target fails',
    lead: `Delivering, but ${names} fails${sinceOf(failing, now)}.`,
    sentence: `${cause} Another target takes everything, so no delivery is late.`,
    todo,
  };
}

function tellWell({ destination, health }: Standing, waits: string): Told {
  const { delivered, skipped } = health.lastHour;
  const host = listed(targetsOf(destination).map(({ url }) => hostOf(url)));
  if (delivered === 0) {
    const skips =
      skipped === 0 ? 'Its source sent nothing for it.' : `Its filters skipped ${counted(skipped, 'event')}.`;
    return {
      state: 'skipped',
      word: 'Quiet',
      lead: 'Nothing to send in the last hour.',
      sentence: skips,
      after: waits,
      todo:
        skipped === 0
          ? 'To do: look at the source if you expected events.'
          : 'To do: look at the filters if you expected events.',
    };
  }
  const { p95 } = health.latencyMs;
  return {
    state: 'delivered',
    word: 'Healthy',
    lead: 'Healthy.',
    sentence: `${host} took all ${counted(delivered, 'delivery', 'deliveries')} of the last hour${p95 === null ? '' : `, 95 % within ${milliseconds(p95)}`}.`,
    after: waits,
    todo: NOTHING,
  };
}

/** Without targets that the destination no longer has. */
function failingTargets({ destination, errors }: Standing): readonly FailingTarget[] {
  const urls = new Set(targetsOf(destination).map(({ url }) => url));
  return (errors?.targets ?? []).filter(
    ({ url, isFailing, errors }) => urls.has(url) && isFailing && errors.length > 0,
  );
}

/** The error of the latest answer. */
export function latestError({ errors }: FailingTarget): FailingTarget['errors'][number] | undefined {
  return errors.toSorted((one, other) => Date.parse(other.lastAt) - Date.parse(one.lastAt))[0];
}

/** "hooks.erp.example answers 503.", or the sentence of the API when it names its target itself. */
function causeOf(target: FailingTarget, now: number): string {
  const error = latestError(target);
  const host = hostOf(target.url);
  const status = /^http_(\d{3})$/.exec(error?.errorClass ?? '')?.[1];
  if (status !== undefined) return `${host} answers ${status}.`;
  return localSentence(error?.sentence ?? `${host} fails.`, now);
}

function sinceOf(failing: readonly FailingTarget[], now: number): string {
  const first = failing.flatMap((target) => latestError(target)?.firstAt ?? []).sort()[0];
  return first === undefined ? '' : ` since ${moment(first, now)}`;
}

function remedyOf(failing: readonly FailingTarget[]): string {
  const todo = new Set(failing.map((target) => remedy(latestError(target)?.errorClass ?? '', hostOf(target.url))));
  return todo.size === 0 ? 'repair the receiver, then probe it.' : `${[...todo].join(', or ')}.`;
}

function remedy(errorClass: string, host: string): string {
  if (errorClass === 'http_401' || errorClass === 'http_403') return `correct the headers that ${host} asks for`;
  if (errorClass === 'http_404' || errorClass === 'http_410') return `correct the URL of ${host}`;
  if (errorClass.startsWith('http_4')) return `look at what ${host} does not accept`;
  if (errorClass.startsWith('tls_')) return `mend the certificate of ${host}`;
  if (errorClass.startsWith('dns_')) return `correct the name ${host}`;
  return `repair ${host}`;
}

function waitText(depth: number): string {
  return counted(depth, 'delivery waits', 'deliveries wait');
}
