import { ApiProblem } from '../problems/problems.ts';

/** For a question to NATS in the course of a request: whatever goes wrong there, the one who asks can try again. */
export async function askEngine<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw Object.assign(new ApiProblem('engine_unavailable'), { cause: error });
  }
}
