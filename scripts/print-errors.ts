/** Prints docs/use/errors.md from the help texts of the contract. With `--write` it also writes the page, which a test holds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ATTEMPT_HELP,
  GIVE_UP_HELP,
  type Help,
  PEOPLE,
  PROBLEM_HELP,
  REFUSAL_HELP,
  REQUEST_HELP,
  SKIP_HELP,
  STATUS_HELP,
} from '@millrace/contract/help';
import { ROOT_DIR } from './project-files.ts';

export const ERRORS_PAGE = 'docs/use/errors.md';

type Chapter = { title: string; about: string; entries: Readonly<Record<string, Help>> };

const CHAPTERS: readonly Chapter[] = [
  {
    title: 'Attempts without a status',
    about: 'The error class of an attempt, in deliveries, in the health of a destination and in its errors by target.',
    entries: ATTEMPT_HELP,
  },
  {
    title: 'Attempts with a status',
    about:
      'The error class is `http_` and the status. A status that is not listed here belongs to `http_3xx`, `http_4xx` or `http_5xx`.',
    entries: STATUS_HELP,
  },
  { title: 'Skipped events', about: 'The reason of a delivery whose state is `skipped`.', entries: SKIP_HELP },
  {
    title: 'Deliveries that were given up',
    about: 'The reason of a dead letter, or of a delivery whose state is `discarded` or `expired`.',
    entries: GIVE_UP_HELP,
  },
  {
    title: 'Refused calls',
    about: 'The code of a call that [collect](collect-api.md) refused; the other calls of its batch are stored.',
    entries: REFUSAL_HELP,
  },
  {
    title: 'Refused requests',
    about: 'The code of a whole request that [collect](collect-api.md) turned away.',
    entries: REQUEST_HELP,
  },
  {
    title: 'Problems of the control API',
    about: 'The code of an answer of the [control API](control-api.md#errors).',
    entries: PROBLEM_HELP,
  },
];

const INTRODUCTION = `# Errors

Every code that Millrace shows, with its cause, its remedy and the people who can do it. Each code is an anchor of this page:
\`errors.md#tls_expired\`. Programs import the same texts from \`@millrace/contract/help\`. \`node scripts/print-errors.ts --write\` prints this page
from them.`;

export function errorsPage(): string {
  const list = CHAPTERS.map(({ title }) => `- [${title}](#${title.toLowerCase().replaceAll(' ', '-')})`).join('\n');
  return `${[INTRODUCTION, list, ...CHAPTERS.map(chapterText)].join('\n\n')}\n`;
}

function chapterText({ title, about, entries }: Chapter): string {
  return [`## ${title}`, about, ...Object.entries(entries).map(([code, help]) => entryText(code, help))].join('\n\n');
}

function entryText(code: string, { title, cause, remedy, whoCanDoIt }: Help): string {
  return `### ${code}\n\n**${title}.** ${cause}\n\n${remedy} *${PEOPLE[whoCanDoIt]}.*`;
}

if (import.meta.main) {
  console.log(errorsPage());
  if (process.argv.includes('--write')) writeFileSync(join(ROOT_DIR, ERRORS_PAGE), errorsPage());
}
