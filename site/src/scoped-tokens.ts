/** The palette of the console is the palette of the site; only the sign for dark differs between Mantine and VitePress. A Vite plugin. */
export function scopedTokens() {
  return {
    name: 'millrace-tokens',
    enforce: 'pre' as const,
    transform: (code: string, id: string): string | undefined =>
      id.endsWith('/theme/tokens.css') ? code.replaceAll('[data-mantine-color-scheme="dark"]', '.dark') : undefined,
  };
}
