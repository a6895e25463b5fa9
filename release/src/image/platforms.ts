/** The platforms of the image, each with its names: Docker's and Debian's, npm's, and that of the GNU tools. */
export const PLATFORMS = {
  amd64: { npm: 'x64', gnu: 'x86_64-linux-gnu' },
  arm64: { npm: 'arm64', gnu: 'aarch64-linux-gnu' },
} as const;

export type Platform = keyof typeof PLATFORMS;

export function isPlatform(name: string): name is Platform {
  return Object.hasOwn(PLATFORMS, name);
}

/** The platform of this machine; other machines can build the image, but not run it. */
export function ownPlatform(): Platform {
  return process.arch === 'arm64' ? 'arm64' : 'amd64';
}
