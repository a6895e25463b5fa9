/**
 * The site keeps a folder for each release, named after its minor version (`/0.1/`), and `versions.json` beside them. Every page reads
 * that file when it is opened, so the pages of an old release know the newer ones without being built again.
 */
export type Version = { version: string; path: string };

/** A release belongs to the folder of its minor version: patches replace what is there. */
export function folderOf(release: string): string {
  const [, folder] = /^(\d+\.\d+)\.\d+/.exec(release) ?? [];
  if (folder === undefined) throw new Error(`${release} is no version: it must begin with three numbers, as 1.2.3`);
  return folder;
}

/** The list with this release in it, newest first, each folder once. */
export function withRelease(versions: readonly Version[], release: string): Version[] {
  const folder = folderOf(release);
  const others = versions.filter(({ path }) => path !== `/${folder}/`);
  const byNumber = (one: Version, other: Version) => order(other.version) - order(one.version);
  return [...others, { version: folder, path: `/${folder}/` }].toSorted(byNumber);
}

/** 1.2 as 1,000,002. */
function order(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 1_000_000 + minor;
}
