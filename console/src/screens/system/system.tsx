import { Page } from '../../shell/page.tsx';

export function SystemScreen() {
  return <Page title="SystemScreen">To be made.</Page>;
}
