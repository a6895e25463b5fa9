/** The size client libraries already keep to, so no library that works elsewhere is refused here. */
export const MAX_CALL_BYTES = 32_768;

/** Client libraries fill a request up to this size; it also bounds the memory one request can take. */
export const MAX_BATCH_BYTES = 512_000;

/** Bounds the work behind one request: 512,000 bytes could otherwise hold ten thousand tiny calls. */
export const MAX_CALLS = 2_500;

/** Far beyond any real call, and far below the few thousand levels where JSON.stringify overflows the stack. */
export const MAX_DEPTH = 64;

/** The longest id a known client library makes has 74 characters; ids are kept and compared, so they stay short. */
export const MAX_MESSAGE_ID_CHARACTERS = 256;

/** The shared fields of a batch become part of each event: the most bytes that all the copies may have together. */
export const MAX_SHARED_BYTES = 8_000_000;

/** Events in one POST to a destination whose body format is a batch: enough that the request costs little beside them. */
export const MAX_BATCHED_EVENTS = 100;

/** The body of such a POST. Receivers already have to take 512,000 bytes; one event that is larger goes alone. */
export const MAX_BATCHED_BYTES = 500_000;
