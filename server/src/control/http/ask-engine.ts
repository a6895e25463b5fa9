import { ApiProblem } from '../problems/problems.ts';

/** Waits for NATS within a request: every error there becomes a 503, which the client may retry. */
export async function askEngine<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw Object.assign(new ApiProblem('engine_unavailable'), { cause: error });
  }
}
