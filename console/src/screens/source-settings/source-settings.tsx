import { useParams } from '@tanstack/react-router';
import { SourceFrame } from '../../shell/source-frame.tsx';
import { SettingsPage } from './settings-page.tsx';

export function SourceSettings() {
  const { id } = useParams({ from: '/shell/sources/$id/settings' });
  return <SourceFrame id={id}>{(source) => <SettingsPage key={id} source={source} />}</SourceFrame>;
}
