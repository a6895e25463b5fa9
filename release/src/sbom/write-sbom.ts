/** An SBOM in the form of CycloneDX 1.6. The same source gives the same bytes. */
import { createHash } from 'node:crypto';
import type { SourceState } from '../source-state.ts';
import type { Component } from './component.ts';

export type Subject = { type: 'application' | 'library' | 'container'; name: string; purl: string };

export function writeSbom(subject: Subject, components: readonly Component[], source: SourceState): string {
  const content = {
    metadata: {
      timestamp: new Date(source.createdAt * 1000).toISOString(),
      tools: { components: [{ type: 'application', name: 'millrace-release', version: source.version }] },
      component: {
        ...subject,
        'bom-ref': subject.purl,
        version: source.version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
      properties: [{ name: 'millrace:commit', value: source.revision }],
    },
    components: components.map(inCycloneDx),
    dependencies: [{ ref: subject.purl, dependsOn: components.map(({ purl }) => purl) }],
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(content))}`;
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1 };
  return `${JSON.stringify({ ...head, ...content }, null, 2)}\n`;
}

function inCycloneDx({ name, version, purl, licence, sha512, parts }: Component): object {
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    licenses: licencesOf(licence),
    ...(sha512 !== undefined && { hashes: [{ alg: 'SHA-512', content: sha512 }] }),
    ...(parts !== undefined && { components: parts.map(inCycloneDx) }),
  };
}

function licencesOf(expression: string): object[] {
  if (expression.startsWith('LicenseRef-')) return [{ license: { name: expression } }];
  return / (AND|OR|WITH) /.test(expression) ? [{ expression }] : [{ license: { id: expression } }];
}

/** A UUID of version 8: its bits are ours to choose, and these come from the content. */
function uuidOf(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join('-');
}
