import { Page } from '../../shell/page.tsx';

export function ReplayScreen() {
  return <Page title="ReplayScreen">To be made.</Page>;
}
