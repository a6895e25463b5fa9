import DefaultTheme from 'vitepress/theme-without-fonts';
import type { Theme } from 'vitepress';
import '../../../console/src/theme/tokens.css';
import './site.css';
import './reference.css';
import ApiIndex from './ApiIndex.vue';
import SiteLayout from './SiteLayout.vue';
import SizingCalculator from './SizingCalculator.vue';

export default {
  extends: DefaultTheme,
  Layout: SiteLayout,
  enhanceApp: ({ app }) => {
    app.component('ApiIndex', ApiIndex);
    app.component('SizingCalculator', SizingCalculator);
  },
} satisfies Theme;
