/** Dialogs and drawers. Mantine keeps the focus inside and gives it back; `Esc` closes the top layer. */
import { Drawer, Modal, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { visible } from '../format/texts.ts';
import { Button } from './button.tsx';
import { ProblemNote } from './problem-note.tsx';

type LayerProps = { title: ReactNode; isOpen: boolean; close(): void; children: ReactNode };

/** `lockScroll` would write a style element, which the CSP does not allow. */
export function Dialog({ title, isOpen, close, children, size = 'md' }: LayerProps & { size?: string }) {
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={titleOf(title)}
      size={size}
      lockScroll={false}
      closeButtonProps={CLOSE}
      centered
    >
      {children}
    </Modal>
  );
}

export function SideDrawer({ title, isOpen, close, children }: LayerProps) {
  return (
    <Drawer
      opened={isOpen}
      onClose={close}
      title={titleOf(title)}
      position="right"
      size="lg"
      lockScroll={false}
      closeButtonProps={CLOSE}
    >
      {children}
    </Drawer>
  );
}

/** A title often has a name in it. */
function titleOf(title: ReactNode): ReactNode {
  return typeof title === 'string' ? <span className="outer">{visible(title)}</span> : title;
}

const CLOSE = { 'aria-label': 'Close' };

type ConfirmProps = LayerProps & {
  /** Verb and thing, as the button says it: "Erase u_48213". */
  verb: string;
  keep?: string;
  /** What cannot be undone asks to type this. */
  typed?: string;
  /** False while the dialog still asks for something. */
  isReady?: boolean;
  isBusy: boolean;
  error?: unknown;
  confirm(): void;
};

export function Confirm(props: ConfirmProps) {
  const { title, isOpen, close } = props;
  return (
    <Dialog title={title} isOpen={isOpen} close={close}>
      <ConfirmForm {...props} />
    </Dialog>
  );
}

/** The dialog takes it away when it closes: what was typed is never there the next time. */
function ConfirmForm(props: ConfirmProps) {
  const { verb, keep = 'Keep', typed, isBusy, error, confirm, close, children } = props;
  const [text, setText] = useState('');
  const isReady = props.isReady !== false && (typed === undefined || text === typed);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isBusy) confirm();
      }}
    >
      {children}
      {typed !== undefined && (
        <TextInput
          label={`Type ${visible(typed)} to confirm`}
          value={text}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      {error !== undefined && error !== null && <ProblemNote error={error} />}
      <div className="btns end">
        <Button onClick={close}>{keep}</Button>
        <Button look={typed === undefined ? 'ink' : 'danger'} type="submit" disabled={!isReady} isBusy={isBusy}>
          {verb}
        </Button>
      </div>
    </form>
  );
}
