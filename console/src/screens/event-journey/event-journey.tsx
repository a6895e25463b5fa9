import { Page } from '../../shell/page.tsx';

export function EventJourney() {
  return <Page title="EventJourney">To be made.</Page>;
}
