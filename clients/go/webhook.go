package millrace

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The reasons why VerifyWebhook refuses a webhook.
var (
	ErrSecretInvalid       = errors.New("millrace: the secret is empty, or is whsec_ without base64 after it")
	ErrSignatureMissing    = errors.New("millrace: the webhook is not signed")
	ErrSignatureWrong      = errors.New("millrace: the signature is not of this body and this secret")
	ErrTimestampOutOfRange = errors.New("millrace: the webhook was signed too long ago, or in the future")
)

// VerifyOption changes how VerifyWebhook judges.
type VerifyOption func(*verification)

type verification struct {
	tolerance time.Duration
	now       func() time.Time
	isPlain   bool
}

// WithTolerance sets how far from now a webhook may have been signed. Default: 5 minutes.
func WithTolerance(tolerance time.Duration) VerifyOption {
	return func(v *verification) { v.tolerance = tolerance }
}

// WithClock replaces the clock, for tests.
func WithClock(now func() time.Time) VerifyOption {
	return func(v *verification) { v.now = now }
}

// WithXSignature checks X-Signature instead of webhook-signature. That signature covers neither the time nor the id:
// an attacker who once saw a webhook can replay it under another id. It is for receivers behind a proxy that drops the
// other headers.
func WithXSignature() VerifyOption {
	return func(v *verification) { v.isPlain = true }
}

// VerifyWebhook checks that the sender of a webhook knows the secret, and reads it. The body must be the bytes
// as they came. It checks webhook-signature (Standard Webhooks) with the time it was signed at, or, WithXSignature,
// X-Signature; which of them is never up to the request. Comparing takes the same time wherever a signature differs.
func VerifyWebhook(body []byte, header http.Header, secret string, options ...VerifyOption) (*Event, error) {
	if err := verify(body, header, secret, options); err != nil {
		return nil, err
	}
	return readEvent(body, header)
}

// VerifyWebhookBatch does the same for a destination that gets batches, and reads the events in their order; each has
// its own Id and Attempt. A webhook with a single event gives that one, so a receiver may change its body format at any
// time.
func VerifyWebhookBatch(body []byte, header http.Header, secret string, options ...VerifyOption) ([]*Event, error) {
	if err := verify(body, header, secret, options); err != nil {
		return nil, err
	}
	return readBatch(body, header)
}

func verify(body []byte, header http.Header, secret string, options []VerifyOption) error {
	v := verification{tolerance: 5 * time.Minute, now: time.Now}
	for _, option := range options {
		option(&v)
	}
	if secret == "" {
		return ErrSecretInvalid
	}
	return v.check(body, header, secret)
}

func (v *verification) check(body []byte, header http.Header, secret string) error {
	if !v.isPlain {
		return v.checkStandard(body, header, secret)
	}
	signature := header.Get("X-Signature")
	if signature == "" {
		return ErrSignatureMissing
	}
	if !hmac.Equal([]byte(signature), []byte(signBody(secret, body))) {
		return ErrSignatureWrong
	}
	return nil
}

func (v *verification) checkStandard(body []byte, header http.Header, secret string) error {
	id, timestamp, signatures := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return ErrSignatureMissing
	}
	key, err := standardKey(secret)
	if err != nil {
		return err
	}
	expected := []byte(signStandard(key, id, timestamp, body))
	isSigned := false
	for _, signature := range strings.Fields(signatures) {
		// No early end: how long it takes must not tell which of them was right.
		isSigned = hmac.Equal([]byte(signature), expected) || isSigned
	}
	if !isSigned {
		return ErrSignatureWrong
	}
	// Only now: of a timestamp that is not signed we would learn nothing.
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || v.now().Sub(time.Unix(seconds, 0)).Abs() > v.tolerance {
		return ErrTimestampOutOfRange
	}
	return nil
}

// signBody is the value of X-Signature. SHA-1 is what receivers of such webhooks already check; as HMAC it is not broken.
func signBody(secret string, body []byte) string {
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

func signStandard(key []byte, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// standardKey: Standard Webhooks writes keys as whsec_ and base64; a secret made by hand is its own bytes.
func standardKey(secret string) ([]byte, error) {
	encoded, isEncoded := strings.CutPrefix(secret, "whsec_")
	if !isEncoded {
		return []byte(secret), nil
	}
	// Base64 for URLs and base64 without padding are read too, as the server does.
	encoded = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(encoded, "="))
	key, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return nil, ErrSecretInvalid
	}
	return key, nil
}
