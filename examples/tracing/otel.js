import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { NodeSDK } from '@opentelemetry/sdk-node';

const sdk = new NodeSDK({ serviceName: 'millrace', traceExporter: new OTLPTraceExporter() });
sdk.start();
process.once('SIGTERM', () => void sdk.shutdown());
