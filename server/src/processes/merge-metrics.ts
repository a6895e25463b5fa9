/** The metrics of one process, as Prometheus reads them. */
export type MetricsPage = { process: string; text: string };
type Family = { head: Map<string, string>; samples: string[] };

const HEAD = /^# (HELP|TYPE) (\S+)/;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (.+)$/;

/**
 * One page for all: each metric has its help and its kind once, and each sample the label `process`. Sums are left to Prometheus. After an
 * upgrade children of two versions may describe a metric differently: the first one counts, because two heads would spoil the page.
 */
export function mergeMetrics(pages: readonly MetricsPage[]): string {
  const families = new Map<string, Family>();
  for (const { process, text } of pages) {
    let family: Family | undefined;
    for (const line of text.split('\n')) {
      const [, kind = '', name] = HEAD.exec(line) ?? [];
      if (name !== undefined) {
        family = families.get(name) ?? { head: new Map(), samples: [] };
        families.set(name, family);
        if (!family.head.has(kind)) family.head.set(kind, line);
      } else family?.samples.push(...labelled(line, process));
    }
  }
  return [...families.values()].map(({ head, samples }) => [...head.values(), ...samples, ''].join('\n')).join('');
}

/** Nothing for a line that is no sample, such as a comment. */
function labelled(line: string, process: string): string[] {
  const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  return name === undefined ? [] : [`${name}{process="${process}"${labels === '' ? '' : `,${labels}`}} ${value}`];
}
