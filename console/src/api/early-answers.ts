declare global {
  interface Window {
    /** Answers to what start.js has asked while the browser still loaded the console, by the URL. */
    millraceEarly?: Record<string, Promise<Response>>;
  }
}

/** Once: any later question is about a later moment. */
export function takeEarly(url: string): Promise<Response> | undefined {
  const early = window.millraceEarly?.[url];
  delete window.millraceEarly?.[url];
  return early;
}
