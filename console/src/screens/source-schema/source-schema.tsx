import { useParams } from '@tanstack/react-router';
import { SourceFrame } from '../../shell/source-frame.tsx';
import { SchemaPage } from './schema-page.tsx';

export function SourceSchemaScreen() {
  const { id } = useParams({ from: '/shell/sources/$id/schema' });
  return <SourceFrame id={id}>{(source) => <SchemaPage key={id} source={source} />}</SourceFrame>;
}
