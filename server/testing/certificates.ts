import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Certificates = {
  /** The authority that signed all but the self-signed one. */
  authority: string;
  make(how: { names: string; days?: number; isSelfSigned?: boolean; subject?: string }): { key: string; cert: string };
} & Disposable;

/** Certificates from an authority of our own, made by openssl in a folder of their own. */
export function openCertificates(): Certificates {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-certificates-'));
  const openssl = (command: string): void => {
    execFileSync('openssl', command.split(' '), { cwd: dir, stdio: 'pipe' });
  };
  const read = (name: string): string => readFileSync(join(dir, name), 'utf8');
  openssl('ecparam -name prime256v1 -genkey -noout -out key.pem');
  openssl('req -x509 -new -key key.pem -subj /CN=authority -days 2 -out authority.pem');
  return {
    authority: read('authority.pem'),
    make({ names, days = 2, isSelfSigned = false, subject = '/CN=one' }) {
      writeFileSync(join(dir, 'extensions'), `subjectAltName=${names}\n`);
      openssl('ecparam -name prime256v1 -genkey -noout -out one.pem');
      openssl(`req -new -key one.pem -subj ${subject} -out one.csr`);
      const signer = isSelfSigned ? '-signkey one.pem' : '-CA authority.pem -CAkey key.pem -CAcreateserial';
      openssl(`x509 -req -in one.csr ${signer} -days ${days} -extfile extensions -out cert.pem`);
      return { key: read('one.pem'), cert: read('cert.pem') };
    },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}
