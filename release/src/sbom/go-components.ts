/** The Go modules inside nats-server of any platform, as Go's linker has noted them in it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NATS_VERSION } from '../../../engines/src/build-nats.ts';
import { runProgram } from '../run-program.ts';
import { byPurl, type Component } from './component.ts';
import { identifyLicences } from './identify-licences.ts';

export function goComponents(program: string): Component[] {
  const notes = runProgram('go', ['version', '-m', program]);
  const [, goVersion = ''] = /: go(\S+)/.exec(notes) ?? [];
  // The linker notes no version of a program that Go built from a folder.
  const modules = [...notes.matchAll(/^\t(?:mod|dep)\t(\S+)\t(v\S+|\(devel\))/gm)];
  if (goVersion === '' || modules.length === 0) throw new Error(`${program} has no notes of Go's linker`);
  const found = modules.map(([, name = '', noted = '']): Component => {
    const version = noted === '(devel)' ? `v${NATS_VERSION}` : noted;
    const licence = licenceIn(sourceOf(`${name}@${version}`));
    return { kind: 'golang', name, version, licence, purl: `pkg:golang/${name}@${version}` };
  });
  return [standardLibrary(goVersion), ...found].toSorted(byPurl);
}

function standardLibrary(version: string): Component {
  return { kind: 'golang', name: 'stdlib', version, licence: 'BSD-3-Clause', purl: `pkg:golang/stdlib@${version}` };
}

/** The source of a module as Go keeps it, checked against Go's checksum database. */
function sourceOf(module: string): string {
  const { Dir } = JSON.parse(runProgram('go', ['mod', 'download', '-json', module])) as { Dir: string };
  return Dir;
}

function licenceIn(dir: string): string {
  const file = readdirSync(dir).find((name) => /^licen[cs]e/i.test(name));
  const licences = file === undefined ? [] : identifyLicences(readFileSync(join(dir, file), 'utf8'));
  if (licences.length === 0) throw new Error(`${dir} has no licence file, or one that is not known here`);
  return licences.join(' AND ');
}
