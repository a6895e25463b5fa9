import { Page } from '../../shell/page.tsx';

export function DeadLetters() {
  return <Page title="DeadLetters">To be made.</Page>;
}
