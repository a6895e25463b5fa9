import { type Answer, jsonAnswer } from './answer.ts';

export type PublicUrl = { protocol: 'http' | 'https'; host: string };

/** The settings that Segment's browser library loads before it sends anything; `apiHost` is where it will send. */
export function segmentSettings(writeKey: string, { protocol, host }: PublicUrl): Answer {
  const allowed = { __default: { enabled: true } };
  return jsonAnswer(200, {
    integrations: {
      'Segment.io': {
        apiKey: writeKey,
        apiHost: `${host}/v1`,
        protocol,
        unbundledIntegrations: [],
        addBundledMetadata: true,
        maybeBundledConfigIds: {},
        versionSettings: { version: '4.4.7', componentTypes: ['browser'] },
      },
    },
    plan: { track: { __default: { enabled: true, integrations: {} } }, identify: allowed, group: allowed },
    // The library would report on itself to /v1/m.
    metrics: { sampleRate: 0 },
    edgeFunction: {},
    analyticsNextEnabled: true,
    middlewareSettings: {},
    enabledMiddleware: {},
    legacyVideoPluginsEnabled: false,
    remotePlugins: [],
  });
}

/** The same for RudderStack's browser library: a source without destinations of its own, so that it only sends to us. */
export function rudderSourceConfig(
  source: { id: string; name: string; workspaceId: string; writeKey: string },
  now: Date,
): Answer {
  const off = { enabled: false };
  return jsonAnswer(200, {
    source: {
      ...source,
      enabled: true,
      config: { statsCollection: { errors: off, metrics: off } },
      destinations: [],
      dataplanes: {},
      connections: [],
      sourceDefinition: { id: 'javascript', name: 'Javascript' },
    },
    updatedAt: now.toISOString(),
  });
}
