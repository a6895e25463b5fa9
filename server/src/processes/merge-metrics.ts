/** The metrics of one process, as Prometheus reads them. */
export type MetricsPage = { process: string; text: string };

type Family = { head: string[]; samples: string[] };

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (.+)$/;

/** One page for all: each metric has its help and its kind once, and each sample the label `process`. Sums are left to Prometheus. */
export function mergeMetrics(pages: readonly MetricsPage[]): string {
  const families = new Map<string, Family>();
  for (const { process, text } of pages) {
    let family: Family | undefined;
    for (const line of text.split('\n')) {
      const [, name] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (name !== undefined) {
        family = families.get(name) ?? { head: [], samples: [] };
        families.set(name, family);
        if (!family.head.includes(line)) family.head.push(line);
      } else if (line !== '') family?.samples.push(labelled(line, process));
    }
  }
  return [...families.values()].map(({ head, samples }) => [...head, ...samples, ''].join('\n')).join('');
}

function labelled(line: string, process: string): string {
  const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  return `${name}{process="${process}"${labels === '' ? '' : `,${labels}`}} ${value}`;
}
