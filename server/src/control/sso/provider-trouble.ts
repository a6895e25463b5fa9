/** Why a provider could not be asked, or did not answer as it should. */
export type TroubleKind =
  | 'address_refused'
  | 'unreachable'
  | 'too_slow'
  | 'answer_too_large'
  | 'wrong_document'
  | 'wrong_issuer'
  | 'wrong_client'
  | 'code_refused'
  | 'not_signed_in'
  | 'wrong_token'
  | 'wrong_clock';

/** The message is a sentence for people, without a secret in it. */
export class ProviderTrouble extends Error {
  override readonly name = 'ProviderTrouble';
  readonly kind: TroubleKind;

  constructor(kind: TroubleKind, sentence: string) {
    super(sentence);
    this.kind = kind;
  }
}
