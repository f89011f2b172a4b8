// Package secret holds the type of everything that must never be shown: whatever prints, formats, logs or encodes a
// Secret gets "[redacted]" (TH-K2). The bytes are read with Reveal, at the one place that needs them, and wiped with
// Wipe.
package secret

import (
	"fmt"
	"log/slog"
	"math/big"
)

const redacted = "[redacted]"

// Secret holds confidential bytes. The zero value is empty. Copies share the bytes, so wiping one wipes all.
type Secret struct{ b []byte }

// New takes ownership of b.
func New(b []byte) Secret { return Secret{b: b} }

// Reveal returns the bytes themselves; the caller must not keep, print or change them.
func (s Secret) Reveal() []byte { return s.b }

// Empty reports whether there is nothing inside.
func (s Secret) Empty() bool { return len(s.b) == 0 }

// Wipe overwrites the bytes with zeros.
func (s Secret) Wipe() { clear(s.b) }

// WipeNumber overwrites the words of a number.
func WipeNumber(v *big.Int) {
	words := v.Bits()
	clear(words[:cap(words)])
	v.SetInt64(0)
}

// String returns "[redacted]".
func (Secret) String() string { return redacted }

// GoString returns "[redacted]".
func (Secret) GoString() string { return redacted }

// Format writes "[redacted]" whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText returns "[redacted]", which also covers JSON and TOML.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns "[redacted]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
