import { createTheme } from '@mantine/core';

/** Type, space and shape of the console for Mantine; the palette is in tokens.css. */
export const theme = createTheme({
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  primaryColor: 'dark',
  defaultRadius: 6,
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    InputWrapper: { defaultProps: { withAsterisk: false } },
    Modal: { defaultProps: { transitionProps: { duration: 160 }, overlayProps: { backgroundOpacity: 0.35 } } },
    Drawer: { defaultProps: { transitionProps: { duration: 160 }, overlayProps: { backgroundOpacity: 0.35 } } },
  },
});
