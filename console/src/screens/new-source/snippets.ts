/** Code that sends a first call, with the address and the write key filled in. */
import { browserScript, type Place } from './browser-script.ts';

export type Snippet = {
  key: string;
  name: string;
  /** A library that the person already uses only needs another address. */
  group: 'Millrace' | 'A library you already use';
  install?: string;
  /** The part to change in existing code. */
  change?: (place: Place) => string;
  code: (place: Place) => string;
  remark?: string;
};

const OURS = 'Millrace';
const THEIRS = 'A library you already use';

const BEHIND_PROXY =
  'The library asks Millrace where to send. If a proxy in front of Millrace ends TLS, set MILLRACE_COLLECT_URL to the address that browsers use.';

export const SNIPPETS: readonly Snippet[] = [
  {
    key: 'node',
    name: 'Node',
    group: OURS,
    install: 'npm install @millrace/node',
    code: ({ url, writeKey }) => `import { Millrace } from '@millrace/node';

const millrace = new Millrace('${writeKey}', {
  endpoint: '${url}',
});

millrace.track({ userId: 'user-1', event: 'Order Completed', properties: { revenue: 12.5 } });
await millrace.close();`,
  },
  {
    key: 'go',
    name: 'Go',
    group: OURS,
    install: 'go get github.com/millrace/millrace/clients/go',
    code: ({ url, writeKey }) => `package main

import (
	"log"

	millrace "github.com/millrace/millrace/clients/go"
)

func main() {
	client := millrace.New("${writeKey}")
	client.Endpoint = "${url}"
	err := client.Track(&millrace.Track{UserId: "user-1", Event: "Order Completed"})
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Close(); err != nil {
		log.Fatal(err)
	}
}`,
  },
  { key: 'browser', name: 'Browser script', group: OURS, code: browserScript },
  {
    key: 'curl',
    name: 'curl',
    group: OURS,
    code: ({ url, writeKey }) => `curl ${url}/v1/track \\
  -u '${writeKey}:' \\
  -d '{"userId":"user-1","event":"Order Completed","properties":{"revenue":12.5}}'`,
  },
  {
    key: 'segment-node',
    name: 'Segment, Node',
    group: THEIRS,
    install: 'npm install @segment/analytics-node',
    change: ({ url }) => `host: '${url}'`,
    code: ({ url, writeKey }) => `import { Analytics } from '@segment/analytics-node';

const analytics = new Analytics({
  writeKey: '${writeKey}',
  host: '${url}',
});

analytics.track({ userId: 'user-1', event: 'Order Completed', properties: { revenue: 12.5 } });
await analytics.closeAndFlush();`,
    remark: `The older package analytics-node takes the address in its second argument: new Analytics(writeKey, { host }).`,
  },
  {
    key: 'segment-browser',
    name: 'Segment, browser',
    group: THEIRS,
    install: 'npm install @segment/analytics-next',
    change: ({ url }) => `cdnURL: '${url}'`,
    code: ({ url, writeKey }) => `import { AnalyticsBrowser } from '@segment/analytics-next';

const analytics = AnalyticsBrowser.load({
  writeKey: '${writeKey}',
  cdnURL: '${url}',
});

analytics.page();
analytics.track('Order Completed', { revenue: 12.5 });`,
    remark: BEHIND_PROXY,
  },
  {
    key: 'segment-python',
    name: 'Segment, Python',
    group: THEIRS,
    install: 'pip install segment-analytics-python',
    change: ({ url }) => `analytics.host = '${url}'`,
    code: ({ url, writeKey }) => `import segment.analytics as analytics

analytics.write_key = '${writeKey}'
analytics.host = '${url}'

analytics.track('user-1', 'Order Completed', {'revenue': 12.5})
analytics.flush()`,
  },
  {
    key: 'segment-go',
    name: 'Segment, Go',
    group: THEIRS,
    install: 'go get gopkg.in/segmentio/analytics-go.v3',
    change: ({ url }) => `analytics.Config{Endpoint: "${url}"}`,
    code: ({ url, writeKey }) => `package main

import (
	"log"

	"gopkg.in/segmentio/analytics-go.v3"
)

func main() {
	client, err := analytics.NewWithConfig(
		"${writeKey}",
		analytics.Config{Endpoint: "${url}"},
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	_ = client.Enqueue(analytics.Track{UserId: "user-1", Event: "Order Completed"})
}`,
  },
  {
    key: 'segment-java',
    name: 'Segment, Java',
    group: THEIRS,
    install: 'com.segment.analytics.java:analytics:3.5.4',
    change: ({ url }) => `.endpoint("${url}")`,
    code: ({ url, writeKey }) => `import com.segment.analytics.Analytics;
import com.segment.analytics.messages.TrackMessage;

public final class FirstCall {
  public static void main(String[] args) {
    Analytics analytics = Analytics.builder("${writeKey}")
        .endpoint("${url}")
        .build();
    analytics.enqueue(TrackMessage.builder("Order Completed").userId("user-1"));
    analytics.flush();
    analytics.shutdown();
  }
}`,
  },
  {
    key: 'rudder-browser',
    name: 'RudderStack, browser',
    group: THEIRS,
    install: 'npm install @rudderstack/analytics-js',
    change: ({ url, writeKey }) => `load('${writeKey}', '${url}', { configUrl: '${url}' })`,
    code: ({ url, writeKey }) => `import { RudderAnalytics } from '@rudderstack/analytics-js/bundled';

const analytics = new RudderAnalytics();
analytics.load('${writeKey}', '${url}', { configUrl: '${url}' });

analytics.page();
analytics.track('Order Completed', { revenue: 12.5 });`,
    remark: 'The bundled build loads no plugins from another host.',
  },
  {
    key: 'rudder-node',
    name: 'RudderStack, Node',
    group: THEIRS,
    install: 'npm install @rudderstack/rudder-sdk-node',
    change: ({ url }) => `dataPlaneUrl: '${url}'`,
    code: ({ url, writeKey }) => `import RudderAnalytics from '@rudderstack/rudder-sdk-node';

const analytics = new RudderAnalytics('${writeKey}', {
  dataPlaneUrl: '${url}',
});

analytics.track({ userId: 'user-1', event: 'Order Completed', properties: { revenue: 12.5 } });
await analytics.flush();`,
  },
];

export function snippetNamed(key: string | undefined): Snippet {
  const [first] = SNIPPETS;
  if (first === undefined) throw new Error('there is always a snippet');
  return SNIPPETS.find((snippet) => snippet.key === key) ?? first;
}
