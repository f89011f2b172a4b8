package settle

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Moment is a place in a settlement where a fault can be asked for.
type Moment string

// Moments. AtLastDeposit comes beside AtDeposit, before the last deposit that lands ahead of the target block.
const (
	AtDeposit     Moment = "deposit"
	AtLastDeposit Moment = "last-deposit"
	AtFill        Moment = "fill"
	AtRelease     Moment = "release"
)

// Faults bring about what seldom happens, for tests and developers. A nil function does nothing. What they bring about
// goes the way that the real event would go: a refused step refunds, a wait ends with the context.
type Faults struct {
	// BeforeFill runs when all deposits have landed; the fill waits for it. An error stops the saga where it is, to be
	// tried again.
	BeforeFill func(ctx context.Context, quoteID string) error
	// NoCapacity makes the solver refuse.
	NoCapacity func(quoteID string) bool
	// Revert makes the target block fail as if the calls had reverted.
	Revert func(quoteID string) bool
	// PriceJump is how far the price of what is delivered has risen against what is paid, in basis points.
	PriceJump func(quoteID string) int64
	// Wait runs before a step. An error stops the saga where it is, to be tried again.
	Wait func(ctx context.Context, at Moment, quoteID string) error
	// Refuse names the failReason with which the world refuses a step, "" to let it pass. A release cannot be refused.
	Refuse func(at Moment, quoteID string) string
	// Expire makes the saga find that its time is over before the fill.
	Expire func(quoteID string) bool
	// NoRoute is for quote.Deps: no funding is found.
	NoRoute func() bool
}

func (f *Faults) wait(ctx context.Context, at Moment, id string) error {
	if f.Wait == nil {
		return nil
	}
	return f.Wait(ctx, at, id)
}

// delay reports whether there are faults that keep a step waiting.
func (f *Faults) delay() bool { return f.Wait != nil || f.BeforeFill != nil }

// refused is a refusal that was asked for, or nil.
func (f *Faults) refused(at Moment, id string) error {
	if f.Refuse != nil {
		if reason := f.Refuse(at, id); reason != "" {
			return asked(reason)
		}
	}
	return nil
}

func (f *Faults) expired(id string) bool { return f.Expire != nil && f.Expire(id) }

func (f *Faults) priceJump(id string) int64 {
	if f.PriceJump == nil {
		return 0
	}
	return f.PriceJump(id)
}

func asked(reason string) error { return refusal{reason, "a fault was asked for"} }

// faultKind is one name that ParseFaults knows: a refusal of a step with a reason, a wait before one (value: a
// duration), or apply for the rest.
type faultKind struct {
	name    string
	at      Moment
	reason  string
	value   string // what stands after "=", in words; "" takes none
	example string // such a value
	help    string
	apply   func(f *Faults, s *share, value string) error
}

func faultKinds() []faultKind {
	return []faultKind{
		{name: "no-route", help: "quotes find no route", apply: func(f *Faults, s *share, _ string) error {
			before := f.NoRoute
			f.NoRoute = func() bool { return before != nil && before() || s.next() }
			return nil
		}},
		{name: "no-capacity", at: AtFill, reason: reasonCapacity, help: "the solver refuses to deliver"},
		{name: "revert", at: AtFill, reason: reasonReverted,
			help: "the target block fails as if the calls had reverted"},
		{name: "unpriced", at: AtFill, reason: reasonUnpriced, help: "a price becomes unknown"},
		{name: "transfer-fails", at: AtFill, reason: reasonTransfer,
			help: "the recipient does not accept what is delivered"},
		{name: "bad-nonce", at: AtFill, reason: reasonNonce, help: "the account's nonce was used by somebody else"},
		{name: "bad-signature", at: AtFill, reason: reasonSignature,
			help: "the account no longer accepts its signature"},
		{name: "deposit-fails", at: AtDeposit, reason: reasonTransaction,
			help: "the first deposit ahead of the target block fails"},
		{name: "deposit-missing", at: AtLastDeposit, reason: reasonMismatch,
			help: "the last deposit ahead of the target block does not reach the escrow"},
		{name: "price-jump", value: "basis points", example: "300", help: "the delivered asset becomes dearer",
			apply: func(f *Faults, s *share, value string) error {
				bps, err := strconv.ParseUint(value, 10, 20)
				if err != nil || bps == 0 {
					return fmt.Errorf("%q is no whole number of basis points from 1", value)
				}
				f.PriceJump = first(f.PriceJump, s, int64(bps))
				return nil
			}},
		{name: "expire", help: "the operation's time is over before the fill",
			apply: func(f *Faults, s *share, _ string) error {
				before := f.Expire
				f.Expire = func(id string) bool { return before != nil && before(id) || s.hit(id) }
				return nil
			}},
		{name: "slow-deposit", at: AtDeposit, value: "duration", example: "2s",
			help: "each deposit waits: PENDING can be seen"},
		{name: "slow-fill", at: AtFill, value: "duration", example: "2s",
			help: "the fill waits: IN_PROGRESS can be seen"},
		{name: "slow-release", at: AtRelease, value: "duration", example: "2s",
			help: "each release waits: EXECUTED can be seen"},
	}
}

// first asks before, then the share: the first that answers other than 0 wins.
func first(before func(string) int64, s *share, v int64) func(string) int64 {
	return func(id string) int64 {
		if before != nil {
			if was := before(id); was != 0 {
				return was
			}
		}
		if s.hit(id) {
			return v
		}
		return 0
	}
}

// FaultHelp lists what ParseFaults knows, one line each.
func FaultHelp() []string {
	var out []string
	for _, k := range faultKinds() {
		name := k.name
		if k.value != "" {
			name += "=<" + k.value + ">"
		}
		out = append(out, fmt.Sprintf("%-28s %s", name, k.help))
	}
	return out
}

// ParseFaults reads `name[=value][@share]`, as `coffer serve --fault` takes it: "slow-fill=2s", "revert@0.25",
// "price-jump=300@4". A share with a point is the part of all quotes that is hit, 0.25 one quarter; one without is N
// for every N-th quote; none hits all. Which ones are hit follows from the order in which they come, so that a run
// repeats; a quote that was hit once stays hit. Several faults add up; of the same name the first that hits wins. The
// error says what is wrong with which text.
func ParseFaults(specs []string) (Faults, error) {
	var f Faults
	for _, spec := range specs {
		if err := addFault(&f, spec); err != nil {
			return Faults{}, fmt.Errorf("fault %q: %w", spec, err)
		}
	}
	return f, nil
}

func addFault(f *Faults, spec string) error {
	rest, part, shared := strings.Cut(spec, "@")
	name, value, valued := strings.Cut(rest, "=")
	kinds := faultKinds()
	i := slices.IndexFunc(kinds, func(k faultKind) bool { return k.name == name })
	if i < 0 {
		var names []string
		for _, k := range kinds {
			names = append(names, k.name)
		}
		return fmt.Errorf("no such fault; there are %s", strings.Join(names, ", "))
	}
	k := kinds[i]
	if valued != (k.value != "") {
		if valued {
			return fmt.Errorf("%s takes no value", name)
		}
		return fmt.Errorf("%s needs a value, such as %s=%s", name, name, k.example)
	}
	s := &share{part: 1, of: 1}
	if shared {
		if err := s.parse(part); err != nil {
			return err
		}
	}
	switch {
	case k.apply != nil:
		return k.apply(f, s, value)
	case k.reason != "":
		f.Refuse = refusing(f.Refuse, k, s)
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is no duration above zero, such as 2s", value)
	}
	f.Wait = waiting(f.Wait, k, s, d)
	return nil
}

func refusing(before func(Moment, string) string, k faultKind, s *share) func(Moment, string) string {
	return func(at Moment, id string) string {
		if before != nil {
			if reason := before(at, id); reason != "" {
				return reason
			}
		}
		if at == k.at && s.hit(id) {
			return k.reason
		}
		return ""
	}
}

func waiting(before func(context.Context, Moment, string) error, k faultKind, s *share,
	d time.Duration) func(context.Context, Moment, string) error {
	return func(ctx context.Context, at Moment, id string) error {
		if before != nil {
			if err := before(ctx, at, id); err != nil {
				return err
			}
		}
		if at != k.at || !s.hit(id) {
			return nil
		}
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// share hits part out of every of, evenly spread over what comes.
type share struct {
	part, of int64

	mu      sync.Mutex
	count   int64 // below of
	decided map[string]bool
}

// remembered bounds how many decisions are kept; older quotes have long ended.
const remembered = 4096

func (s *share) parse(text string) error {
	whole, digits, pointed := strings.Cut(text, ".")
	if !pointed {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || n == 0 {
			return fmt.Errorf("%q is no share: a part such as 0.25, or N for every N-th quote", text)
		}
		s.part, s.of = 1, int64(n)
		return nil
	}
	n, err := strconv.ParseUint(whole+digits, 10, 31)
	s.part, s.of = int64(n), 1
	for range digits {
		s.of *= 10
	}
	if err != nil || whole == "" || digits == "" || len(digits) > 6 || s.part == 0 || s.part > s.of {
		return fmt.Errorf("%q is no part above 0 and up to 1.0, with at most six decimals", text)
	}
	return nil
}

// next decides about the next one that comes.
func (s *share) next() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draw()
}

// draw lets through what does not fill up another whole.
func (s *share) draw() bool {
	if s.count += s.part; s.count < s.of {
		return false
	}
	s.count -= s.of
	return true
}

// hit decides about a quote, always the same.
func (s *share) hit(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was, known := s.decided[id]; known {
		return was
	}
	if len(s.decided) >= remembered || s.decided == nil {
		s.decided = map[string]bool{}
	}
	s.decided[id] = s.draw()
	return s.decided[id]
}
