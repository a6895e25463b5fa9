package millrace

// queuedCall is a call as it will be sent, and what is needed to report on it.
type queuedCall struct {
	// number counts the calls of a client from 1.
	number uint64
	kind   string
	// messageId is empty where the library made it; it is then at a known place in the body.
	messageId string
	body      []byte
}

// queue holds the calls not yet on their way, the oldest first, and counts those on their way too: they also take room.
type queue struct {
	calls []queuedCall
	// taken is how many at the start of calls are gone already.
	taken        int
	waitingBytes int
	heldCalls    int
	heldBytes    int
	lastNumber   uint64
}

func (q *queue) waiting() []queuedCall {
	return q.calls[q.taken:]
}

func (q *queue) add(call queuedCall) {
	q.lastNumber++
	call.number = q.lastNumber
	if q.taken > 0 && len(q.calls) == cap(q.calls) {
		q.closeGap()
	}
	q.calls = append(q.calls, call)
	q.waitingBytes += len(call.body)
	q.heldCalls++
	q.heldBytes += len(call.body)
}

// closeGap moves the calls to the start, so that the same memory serves for as long as the client lives.
func (q *queue) closeGap() {
	left := copy(q.calls, q.waiting())
	clear(q.calls[left:])
	q.calls, q.taken = q.calls[:left], 0
}

// take appends the n oldest calls to those given. They are still held; release gives back their room.
func (q *queue) take(to []queuedCall, n int) []queuedCall {
	oldest := q.waiting()[:n]
	to = append(to, oldest...)
	for i := range oldest {
		q.waitingBytes -= len(oldest[i].body)
	}
	clear(oldest)
	q.taken += n
	if q.taken == len(q.calls) {
		q.calls, q.taken = q.calls[:0], 0
	}
	return to
}

func (q *queue) release(calls []queuedCall) {
	q.heldCalls -= len(calls)
	for i := range calls {
		q.heldBytes -= len(calls[i].body)
	}
}

// The parts of a batch besides its calls and the commas between them.
const (
	batchStart = `{"batch":[`
	batchEnd   = `]}`
)

// nextBatch says how many calls fit into one request.
func (q *queue) nextBatch(maxCalls int) int {
	bytes := len(batchStart) + len(batchEnd)
	waiting := q.waiting()
	for i := range waiting {
		bytes += len(waiting[i].body)
		if i > 0 {
			bytes++
		}
		if i == maxCalls || bytes > MaxBatchBytes {
			return i
		}
	}
	return len(waiting)
}
