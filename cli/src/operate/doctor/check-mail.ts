/** The mail server that control sends through, and the mails that did not get out. */
import type { Config } from '@millrace/server/config';
import { readMailCounts } from '@millrace/server/database-facts';
import { openMailer } from '@millrace/server/mailer';
import { type Checked, type Finding, problem, warning } from './finding.ts';

const LATE_SECONDS = 600;

export async function checkMail({ control }: Config): Promise<Checked> {
  const { smtp, databaseUrl } = control;
  // Without PostgreSQL the part about it has said so.
  const counts = await readMailCounts(databaseUrl).catch(() => undefined);
  const findings = [...(smtp === undefined ? [] : await judgeServer(smtp)), ...judgeCounts(counts)];
  return { part: 'mail', findings, facts: { isSet: smtp !== undefined, ...counts } };
}

async function judgeServer(smtp: NonNullable<Config['control']['smtp']>): Promise<Finding[]> {
  const answer = await openMailer(smtp).check();
  if (answer.ok) return [];
  return [
    problem('smtp_unusable', {
      what: `The mail server cannot be used: ${answer.why}.`,
      why: 'Invitations and links to new passwords do not reach people. Control tries each mail ten times, for six hours.',
      todo: 'See that MILLRACE_SMTP_URL names host, port, login and encryption of the mail server, and that this machine may connect to it.',
    }),
  ];
}

function judgeCounts(counts: Awaited<ReturnType<typeof readMailCounts>>): Finding[] {
  if (counts === undefined) return [];
  const { dead, waiting, oldest_seconds: oldest, last_error: last } = counts;
  const why = last === null ? '' : ` The last failure was ${last}.`;
  return [
    ...(dead === 0
      ? []
      : [
          warning('mails_dead', {
            what: `${dead} mails of the last seven days were given up.${why}`,
            why: 'Their readers wait for an invitation or a link that does not come.',
            todo: 'Mend the mail server, then let people ask again: links of dead mails are gone.',
          }),
        ]),
    ...(oldest < LATE_SECONDS
      ? []
      : [
          warning('mails_late', {
            what: `${waiting} mails wait, the oldest for ${Math.floor(oldest / 60)} minutes.${why}`,
            why: 'Control sends a mail within seconds if the mail server takes it.',
            todo: 'See that a process with the role control runs with MILLRACE_SMTP_URL, and what it logs as mail.delayed.',
          }),
        ]),
  ];
}
