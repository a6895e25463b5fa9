import { Page } from '../../shell/page.tsx';

export function Privacy() {
  return <Page title="Privacy">To be made.</Page>;
}
