package millrace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// recorder is the network: it keeps each request and answers by a script. Being a transport and no socket, it works
// under a clock that jumps.
type recorder struct {
	mu   sync.Mutex
	seen []recorded
	// answer decides on a request, counted from 1; without it the answer is always 200.
	answer func(n int, request recorded) (*http.Response, error)
}

type recorded struct {
	url    string
	header http.Header
	raw    []byte
	body   []byte
	calls  []sentCall
}

type sentCall struct {
	Type, MessageId, UserId, Event, Timestamp string
}

func newRecorder() *recorder { return &recorder{} }

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	seen := recorded{url: request.URL.String(), header: request.Header}
	seen.raw, _ = io.ReadAll(request.Body)
	seen.body = inflated(seen.raw, request.Header)
	var batch struct{ Batch []sentCall }
	if err := json.Unmarshal(seen.body, &batch); err != nil {
		panic(err)
	}
	seen.calls = batch.Batch
	r.mu.Lock()
	r.seen = append(r.seen, seen)
	n := len(r.seen)
	r.mu.Unlock()
	if r.answer == nil {
		return status(200, `{"success":true}`), nil
	}
	return r.answer(n, seen)
}

func inflated(raw []byte, header http.Header) []byte {
	if header.Get("Content-Encoding") != "gzip" {
		return raw
	}
	reader, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		panic(err)
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		panic(err)
	}
	return body
}

func (r *recorder) requests() []recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]recorded(nil), r.seen...)
}

func status(code int, body string, header ...string) *http.Response {
	response := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i+1 < len(header); i += 2 {
		response.Header.Set(header[i], header[i+1])
	}
	return response
}
