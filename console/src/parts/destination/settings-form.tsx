/** The settings of a catalog entry beside targets and secret, one field each, from its schema. */
import { NumberInput, SegmentedControl, Switch, TextInput } from '@mantine/core';
import { useId } from 'react';
import look from './destination.module.css';
import { OPTION_WORDS, type SettingField } from './setting-fields.ts';

type SettingsFormProps = {
  fields: readonly SettingField[];
  values: Readonly<Record<string, string>>;
  isReadOnly: boolean;
  change(values: Record<string, string>): void;
};

export function SettingsForm({ fields, values, isReadOnly, change }: SettingsFormProps) {
  return (
    <div className={look.form}>
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          text={values[field.name] ?? ''}
          isReadOnly={isReadOnly}
          change={(text) => change({ ...values, [field.name]: text })}
        />
      ))}
    </div>
  );
}

type FieldProps = { field: SettingField; text: string; isReadOnly: boolean; change(text: string): void };

function Field({ field, text, isReadOnly, change }: FieldProps) {
  const label = useId();
  const shared = { label: field.label, description: field.about, disabled: isReadOnly };
  if (field.kind === 'choice') {
    return (
      <div className={look.field}>
        <span id={label} className="mantine-InputWrapper-label">
          {field.label}
        </span>
        <SegmentedControl
          aria-labelledby={label}
          size="xs"
          disabled={isReadOnly}
          value={text === '' ? field.preset : text}
          data={field.options.map((value) => ({ value, label: OPTION_WORDS[value] ?? value }))}
          onChange={change}
        />
        <span className="small dim">{field.about}</span>
      </div>
    );
  }
  if (field.kind === 'switch') {
    return (
      <Switch {...shared} checked={text === 'true'} onChange={(event) => change(String(event.currentTarget.checked))} />
    );
  }
  if (field.kind === 'number') {
    return (
      <NumberInput
        {...shared}
        value={text === '' ? '' : Number(text)}
        placeholder={field.preset === '' ? 'not set' : field.preset}
        allowDecimal={false}
        allowNegative={false}
        thousandSeparator=","
        hideControls
        {...(field.minimum === undefined ? {} : { min: field.minimum })}
        {...(field.maximum === undefined ? {} : { max: field.maximum })}
        onChange={(value) => change(value === '' ? '' : String(value))}
      />
    );
  }
  return <TextInput {...shared} value={text} onChange={(event) => change(event.currentTarget.value)} />;
}
