import { type Attributes, context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

export type { Attributes } from '@opentelemetry/api';

/** A span. */
export type Traced = {
  /** W3C `traceparent`, for the spans below it. */
  traceparent: string;
  end(attributes?: Attributes, problem?: string): void;
};

export type Tracing = {
  /** Undefined when tracing is off. `parent` is a `traceparent`; without a readable one a new trace begins. */
  start(name: SpanName, parent: string | undefined, attributes?: Attributes): Traced | undefined;
};

const KINDS = {
  'millrace.call': SpanKind.SERVER,
  'millrace.append': SpanKind.PRODUCER,
  'millrace.attempt': SpanKind.CLIENT,
} as const;
type SpanName = keyof typeof KINDS;

export const NO_TRACING: Tracing = { start: () => undefined };

/** Spans through OpenTelemetry's API; an SDK loaded with `node --import` takes them from there. */
export function openTracing(): Tracing {
  const tracer = trace.getTracer('millrace');
  return {
    start(name, parent, attributes = {}) {
      const span = tracer.startSpan(name, { kind: KINDS[name], attributes }, contextOf(parent));
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        end(more = {}, problem) {
          span.setAttributes(more);
          if (problem !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: problem });
          span.end();
        },
      };
    },
  };
}

function contextOf(traceparent: string | undefined) {
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '');
  if (parts === null) return context.active();
  const [, traceId = '', spanId = '', flags = ''] = parts;
  return trace.setSpanContext(context.active(), {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  });
}
