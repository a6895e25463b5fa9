package millrace

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

func runSignatureCase(t *testing.T, each contractCase) {
	var input struct {
		Secret, Id, Body string
		Secrets          []string
		TimestampSeconds int64
	}
	var expected string
	if err := json.Unmarshal([]byte(each.Input), &input); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(each.Expect), &expected); err != nil {
		t.Fatal(err)
	}
	body, timestamp := []byte(input.Body), strconv.FormatInt(input.TimestampSeconds, 10)
	if each.Scheme == "hmac-sha1" {
		if got := signBody(input.Secret, body); got != expected {
			t.Fatalf("signed %s, the server %s", got, expected)
		}
		assertVerifies(t, body, http.Header{"X-Signature": {expected}}, input.Secret, WithXSignature())
		return
	}
	header := standardHeader(input.Id, timestamp, expected)
	at := WithClock(func() time.Time { return time.Unix(input.TimestampSeconds+299, 0) })
	for _, secret := range input.Secrets {
		assertVerifies(t, body, header, secret, at)
	}
	if len(input.Secrets) == 0 {
		if _, err := VerifyWebhook(body, header, "s3cr3t", at); !errors.Is(err, ErrSignatureMissing) {
			t.Fatal(err)
		}
	}
}

func standardHeader(id, timestamp, signature string) http.Header {
	header := http.Header{}
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", timestamp)
	header.Set("webhook-signature", signature)
	return header
}

// assertVerifies leaves open whether the body is an event: some cases sign other things.
func assertVerifies(t *testing.T, body []byte, header http.Header, secret string, options ...VerifyOption) {
	t.Helper()
	_, err := VerifyWebhook(body, header, secret, options...)
	if err != nil && !strings.Contains(err.Error(), "is signed but cannot be read") {
		t.Fatal(err)
	}
	var event struct{ Type string }
	if json.Unmarshal(body, &event) == nil && knownTypes[event.Type] && err != nil {
		t.Fatal(err)
	}
}

const (
	trackBody = `{"version":1,"type":"track","userId":"u1","event":"E","properties":{"n":1},"timestamp":"2026-11-15T00:08:46.123Z","context":{}}`
	signedAt  = 1_794_701_326
)

func signedTrack(secret string) http.Header {
	key, _ := standardKey(secret)
	timestamp := strconv.Itoa(signedAt)
	header := standardHeader("dlv_1", timestamp, signStandard(key, "dlv_1", timestamp, []byte(trackBody)))
	header.Set("X-Signature", signBody(secret, []byte(trackBody)))
	header.Set("X-Millrace-Attempt", "2")
	return header
}

func clockAt(seconds int64) VerifyOption {
	return WithClock(func() time.Time { return time.Unix(seconds, 0) })
}

func TestAVerifiedWebhookIsRead(t *testing.T) {
	event, err := VerifyWebhook([]byte(trackBody), signedTrack("s3cr3t"), "s3cr3t", clockAt(signedAt))
	if err != nil {
		t.Fatal(err)
	}
	if event.Type != "track" || event.UserId != "u1" || event.Event != "E" || event.Properties["n"] != 1.0 ||
		event.Id != "dlv_1" || event.Attempt != 2 || event.Version != 1 || FormatTime(event.Timestamp) != "2026-11-15T00:08:46.123Z" {
		t.Fatalf("%+v", event)
	}
	if string(event.Raw) != trackBody {
		t.Fatal("the raw body is not the body")
	}
}

func TestAnAliasIsReadByTheNamesOfItsBody(t *testing.T) {
	body := []byte(`{"version":1,"type":"alias","Previous ID":"p1","User ID":"u1","timestamp":"2026-11-15T00:08:46.123Z","context":{}}`)
	event, err := VerifyWebhook(body, http.Header{"X-Signature": {signBody("s", body)}}, "s", WithXSignature())
	if err != nil || event.UserId != "u1" || event.PreviousId != "p1" {
		t.Fatal(event, err)
	}
}

func TestWhatIsNotSignedRightIsRefused(t *testing.T) {
	changed := func(change func(http.Header)) http.Header {
		header := signedTrack("s3cr3t")
		change(header)
		return header
	}
	onlyOld := changed(func(h http.Header) { h.Del("webhook-signature") })
	cases := []struct {
		name    string
		body    string
		header  http.Header
		secret  string
		options []VerifyOption
		want    error
	}{
		{"another body", trackBody + " ", signedTrack("s3cr3t"), "s3cr3t", nil, ErrSignatureWrong},
		{"another secret", trackBody, signedTrack("s3cr3t"), "other", nil, ErrSignatureWrong},
		{"no secret", trackBody, signedTrack(""), "", nil, ErrSecretInvalid},
		{"a secret that is not base64", trackBody, signedTrack("s"), "whsec_%%%", nil, ErrSecretInvalid},
		{"an empty key", trackBody, signedTrack("s"), "whsec_", nil, ErrSecretInvalid},
		{"no signature", trackBody, http.Header{}, "s3cr3t", nil, ErrSignatureMissing},
		{"another id", trackBody, changed(func(h http.Header) { h.Set("webhook-id", "dlv_2") }), "s3cr3t", nil, ErrSignatureWrong},
		{"no id", trackBody, changed(func(h http.Header) { h.Del("webhook-id") }), "s3cr3t", nil, ErrSignatureMissing},
		{"another time", trackBody, changed(func(h http.Header) { h.Set("webhook-timestamp", "1794701327") }), "s3cr3t", nil, ErrSignatureWrong},
		{"signed 301 s ago", trackBody, signedTrack("s3cr3t"), "s3cr3t", []VerifyOption{clockAt(signedAt + 301)}, ErrTimestampOutOfRange},
		{"signed in 301 s", trackBody, signedTrack("s3cr3t"), "s3cr3t", []VerifyOption{clockAt(signedAt - 301)}, ErrTimestampOutOfRange},
		{"a narrower tolerance", trackBody, signedTrack("s3cr3t"), "s3cr3t", []VerifyOption{clockAt(signedAt + 11), WithTolerance(10 * time.Second)}, ErrTimestampOutOfRange},
		{"a good X-Signature beside a wrong one", trackBody, changed(func(h http.Header) { h.Set("webhook-signature", "v1,AAAA") }), "s3cr3t", nil, ErrSignatureWrong},
		{"a stripped webhook-signature beside a good X-Signature", trackBody, onlyOld, "s3cr3t", nil, ErrSignatureMissing},
		{"no header at all", trackBody, nil, "s3cr3t", nil, ErrSignatureMissing},
		{"webhook-signature where X-Signature was chosen", trackBody, changed(func(h http.Header) { h.Del("X-Signature") }), "s3cr3t", []VerifyOption{WithXSignature()}, ErrSignatureMissing},
		{"X-Signature in capitals", trackBody, http.Header{"X-Signature": {strings.ToUpper(signBody("s3cr3t", []byte(trackBody)))}}, "s3cr3t", []VerifyOption{WithXSignature()}, ErrSignatureWrong},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			options := append([]VerifyOption{clockAt(signedAt)}, each.options...)
			event, err := VerifyWebhook([]byte(each.body), each.header, each.secret, options...)
			if !errors.Is(err, each.want) || event != nil {
				t.Fatalf("got %v, want %v", err, each.want)
			}
		})
	}
	assertVerifies(t, []byte(trackBody), onlyOld, "s3cr3t", WithXSignature())
}

func TestASignedBodyThatIsNoEventIsRefused(t *testing.T) {
	for _, body := range []string{"", "null", "[]", "1", `"x"`, "{}", `{"type":"purchase"}`, "{"} {
		header := http.Header{"X-Signature": {signBody("s", []byte(body))}}
		if event, err := VerifyWebhook([]byte(body), header, "s", WithXSignature()); err == nil || event != nil {
			t.Fatalf("%s was read as %+v", body, event)
		}
	}
}

func TestWhileSecretsRotateEitherOneVerifies(t *testing.T) {
	timestamp := strconv.Itoa(signedAt)
	both := signStandard([]byte("new"), "dlv_1", timestamp, []byte(trackBody)) + " " +
		signStandard([]byte("old"), "dlv_1", timestamp, []byte(trackBody))
	header := standardHeader("dlv_1", timestamp, both)
	assertVerifies(t, []byte(trackBody), header, "new", clockAt(signedAt))
	assertVerifies(t, []byte(trackBody), header, "old", clockAt(signedAt))
}

func TestABatchGivesItsEventsInTheirOrderEachWithItsId(t *testing.T) {
	body := []byte(`{"version":1,"type":"batch","events":[{"id":"dlv_1","attempt":1,"body":{"version":1,"type":"track","userId":"u1","event":"E","properties":{},"timestamp":"2026-11-15T00:08:46.123Z","context":{}}},{"id":"dlv_2","attempt":3,"order":"1794701330000","body":{"type":"delete","userId":"u2","timestamp":"2026-11-15T00:08:46.123Z"}}]}`)
	header := http.Header{"X-Signature": {signBody("s3cr3t", body)}}
	events, err := VerifyWebhookBatch(body, header, "s3cr3t", WithXSignature())
	if err != nil || len(events) != 2 {
		t.Fatalf("read %d events: %v", len(events), err)
	}
	first, second := events[0], events[1]
	if first.Id != "dlv_1" || first.Attempt != 1 || first.Order != "" || first.Event != "E" {
		t.Errorf("the first is %+v", first)
	}
	if second.Id != "dlv_2" || second.Attempt != 3 || second.Order != "1794701330000" || second.Type != "delete" || second.UserId != "u2" {
		t.Errorf("the second is %+v", second)
	}
	if _, err := VerifyWebhook(body, header, "s3cr3t", WithXSignature()); err == nil {
		t.Error("a batch was read as one event")
	}
	if _, err := VerifyWebhookBatch(body, header, "other", WithXSignature()); !errors.Is(err, ErrSignatureWrong) {
		t.Errorf("a wrong secret gives %v", err)
	}
}

func TestAWebhookThatIsNoBatchGivesItsEvent(t *testing.T) {
	body := []byte(`{"version":1,"type":"track","userId":"u1","event":"E","properties":{},"timestamp":"2026-11-15T00:08:46.123Z","context":{}}`)
	header := http.Header{"X-Signature": {signBody("s3cr3t", body)}}
	header.Set("webhook-id", "dlv_9")
	header.Set("X-Millrace-Attempt", "2")
	header.Set("X-Millrace-Order", "17")
	events, err := VerifyWebhookBatch(body, header, "s3cr3t", WithXSignature())
	if err != nil || len(events) != 1 || events[0].Id != "dlv_9" || events[0].Attempt != 2 || events[0].Order != "17" {
		t.Fatalf("read %v: %v", events, err)
	}
}
