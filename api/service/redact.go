package service

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"coffer/api/service/access"
)

// redactedLog passes a log on without keys: a client may put one where none belongs, into a path for instance. It takes
// out what has the form of a stored key, and the key of this process.
type redactedLog struct {
	slog.Handler
	process string
}

// leastKey is the shortest key of a process that is searched for: a shorter one would be found in words.
const leastKey = 12

func (h redactedLog) clean(s string) string {
	if len(h.process) >= leastKey {
		s = withoutKey(s, h.process)
	}
	return access.Redact(s)
}

// withoutKey takes out a key, also where only its beginning is there: what is logged may have been cut before.
func withoutKey(s, key string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, key[:leastKey])
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString("[redacted]")
		for i := leastKey; i < len(key) && rest != "" && rest[0] == key[i]; i++ {
			rest = rest[1:]
		}
		s = rest
	}
}

func (h redactedLog) attr(a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(h.clean(v.String()))
	case slog.KindAny:
		if s := fmt.Sprint(v.Any()); h.clean(s) != s {
			a.Value = slog.StringValue(h.clean(s))
		}
	case slog.KindGroup:
		a.Value = slog.GroupValue(h.attrs(v.Group())...)
	}
	return a
}

func (h redactedLog) attrs(as []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(as))
	for i, a := range as {
		out[i] = h.attr(a)
	}
	return out
}

// Handle implements slog.Handler.
func (h redactedLog) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, h.clean(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements slog.Handler.
func (h redactedLog) WithAttrs(as []slog.Attr) slog.Handler {
	return redactedLog{h.Handler.WithAttrs(h.attrs(as)), h.process}
}

// WithGroup implements slog.Handler.
func (h redactedLog) WithGroup(name string) slog.Handler {
	return redactedLog{h.Handler.WithGroup(name), h.process}
}
