/** A run takes long, and each part is worth knowing if a later one fails. */
export function say<T>(what: string, figures: T): T {
  console.log(what, JSON.stringify(figures));
  return figures;
}
