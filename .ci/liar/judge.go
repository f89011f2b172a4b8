package liar

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

const minute = time.Minute

// judge compares what the persons of a batch confirmed and were told with what the chains say.
func judge(ctx context.Context, program, database string, sessions []*Session) error {
	var all []string
	for _, s := range sessions {
		all = append(all, s.names...)
	}
	c, err := ReadChains(ctx, program, database, all)
	if err != nil {
		return err
	}
	if len(c.Odd) > 0 {
		return fmt.Errorf("the chains do not add up: %s", strings.Join(c.Odd, "; "))
	}
	for _, s := range sessions {
		s.judge(c)
	}
	return nil
}

func (s *Session) problem(code, format string, args ...any) {
	s.Problems = append(s.Problems, code+": "+fmt.Sprintf(format, args...))
}

func (s *Session) judge(c Chains) {
	left := Sums{}
	for _, n := range s.names {
		left.addAll(c.Left[n])
	}
	worst, places := Sums{}, map[string]Sums{}
	for _, a := range s.confirmed {
		worst.addAll(a.worst)
		for at, v := range a.places {
			if places[at] == nil {
				places[at] = Sums{}
			}
			places[at].atLeast(v)
		}
	}
	byPlace := Sums{}
	for _, v := range places {
		byPlace.addAll(v)
	}
	for _, x := range left.beyond(worst) {
		s.problem("sum", "%s", x)
	}
	for _, x := range left.beyond(byPlace) {
		s.problem("slot", "%s", x)
	}
	s.caps(left, c)
	s.loss(c)
	s.telling(c)
	s.twice(left)
	if s.Embedded {
		s.facts(c)
	}
}

// caps compares what left with the caps of the person's policy, at catalogue prices.
func (s *Session) caps(left Sums, c Chains) {
	l := s.policy.Limits
	if total := worth(s.policy, left); s.beyondDay(total) {
		s.problem("cap", "%s USD left within a day, at most %s may", amount.USD2(total), amount.USD2(l.MaxSpendPerDay))
	}
	if l.MaxSpend == nil {
		return
	}
	ran := c.succeeded()
	for _, o := range s.operations {
		sum := Sums{}
		for _, x := range o.Signatures {
			if ran[x.OpHash] {
				ran[x.OpHash] = false // the same signature for two quotes ran once
				for _, v := range x.Spend {
					n, _ := new(big.Int).SetString(v.Amount, 10)
					sum.add(v.Asset, n)
				}
			}
		}
		if v := worth(s.policy, sum); v.Cmp(l.MaxSpend) > 0 {
			s.problem("cap", "%s USD left by one operation, at most %s may", amount.USD2(v), amount.USD2(l.MaxSpend))
		}
	}
}

// beyondDay reports whether a sum is more than may be spent in a day, when the session took no longer.
func (s *Session) beyondDay(sum *big.Int) bool {
	day := s.policy.Limits.MaxSpendPerDay
	return day != nil && s.ended-s.began < 86_400 && sum.Cmp(day) > 0
}

// succeeded are the hashes of the operations that did what they say.
func (c Chains) succeeded() map[string]bool {
	out := map[string]bool{}
	for _, r := range c.Ran {
		out[r.Hash] = out[r.Hash] || r.Success
	}
	return out
}

// loss compares what the account has lost, everything that arrived counted, with the caps.
func (s *Session) loss(c Chains) {
	lost := worth(s.policy, s.had)
	for _, n := range s.names {
		lost.Sub(lost, worth(s.policy, c.Have[n]))
	}
	l := s.policy.Limits
	if s.beyondDay(lost) {
		s.problem("loss", "%s USD are lost within a day, at most %s may be spent", amount.USD2(lost),
			amount.USD2(l.MaxSpendPerDay))
	}
	if l.MaxSpend == nil {
		return
	}
	most := new(big.Int).Mul(l.MaxSpend, big.NewInt(int64(len(s.confirmed))))
	if lost.Cmp(most) > 0 {
		s.problem("loss", "%s USD are lost by %d operations, at most %s may be spent", amount.USD2(lost),
			len(s.confirmed), amount.USD2(most))
	}
}

// worth is a sum in micro USD.
func worth(p verify.Policy, s Sums) *big.Int {
	total := new(big.Int)
	for text, v := range s {
		a, err := caip.ParseAsset(text)
		e, known := p.Catalog.Entity(a)
		if err != nil || !known {
			continue
		}
		if m := amount.Value(v, e.Decimals, p.Catalog.Price(a)); m != nil {
			total.Add(total, m)
		}
	}
	return total
}

// telling checks that no signature left the wallet's list while it could still run.
func (s *Session) telling(c Chains) {
	for _, hash := range sortedNames(s.watched) {
		t := s.watched[hash]
		end, ends := t.signature.Ends()
		if t.gone.IsZero() || ends && !t.gone.Before(end) {
			continue
		}
		later := "; it did not run"
		dead := false
		for _, r := range c.Ran {
			before := int64(r.Time) <= t.gone.Unix()
			same := r.Hash == hash
			used := r.Nonce != "" && r.Nonce == t.signature.Nonce && r.Chain == t.signature.Chain &&
				strings.EqualFold(r.Sender, t.signature.Sender)
			dead = dead || before && (same || used)
			if same && !before {
				later = fmt.Sprintf("; it RAN %d s later", int64(r.Time)-t.gone.Unix())
			}
		}
		if !dead && t.state != api.StatusCompleted {
			s.forgotten[t.operation] = true
		}
		if !dead {
			s.problem("told", "the %s signature %.10s of operation %s was no longer listed as open, told %s%s",
				t.signature.Role, hash, t.operation, t.state, later)
		}
	}
}

// twice checks what left against what was confirmed without the operations that the person had to believe ended,
// because the wallet told so and listed nothing of them.
func (s *Session) twice(left Sums) {
	believed := Sums{}
	for id, a := range s.confirmed {
		if !s.forgotten[id] {
			believed.addAll(a.worst)
		}
	}
	if len(s.forgotten) == 0 {
		return
	}
	for _, x := range left.beyond(believed) {
		s.problem("twice", "%s, without what was told to have ended", x)
	}
}

// facts checks what an embedded wallet was told by a service that is honest about what it did.
func (s *Session) facts(c Chains) {
	ran := c.succeeded()
	for _, o := range s.operations {
		for _, x := range lastSigned(o) {
			switch {
			case o.State == journal.Done && o.Outcome == api.StatusCompleted && !ran[x.OpHash]:
				s.problem("fact", "%s was told completed, its %s operation %.10s did not run", o.ID, x.Role, x.OpHash)
			case o.State == journal.Done && o.Outcome == api.StatusFailed &&
				ran[x.OpHash], o.State == journal.NotExecuted && ran[x.OpHash]:
				s.problem("fact", "%s was told not to have run, its %s operation %.10s did", o.ID, x.Role, x.OpHash)
			case o.State == journal.Done && o.Outcome == api.StatusRefunded && x.Role == verify.RolePrepared &&
				ran[x.OpHash]:
				s.problem("fact", "%s was told refunded, its call %.10s ran", o.ID, x.OpHash)
			}
		}
	}
}

// lastSigned are the signatures of the quote that an operation ended with: the last call that was prepared and what
// pays for it.
func lastSigned(o journal.Operation) []journal.Signature {
	var out []journal.Signature
	for _, x := range o.Signatures {
		if x.QuoteID != "" && strings.EqualFold(x.QuoteID, o.QuoteID) {
			out = append(out, x)
		}
	}
	for i := len(o.Signatures) - 1; i >= 0; i-- {
		if o.Signatures[i].Role == verify.RolePrepared {
			return append(out, o.Signatures[i])
		}
	}
	return out
}
