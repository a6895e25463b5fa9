import { Page } from '../../shell/page.tsx';

export function SourceSchemaScreen() {
  return <Page title="SourceSchemaScreen">To be made.</Page>;
}
