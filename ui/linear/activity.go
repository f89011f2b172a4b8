package linear

import (
	"context"
	"errors"
	"slices"
	"strings"

	"coffer/ui/present"
	"coffer/wallet/flow"
)

// unfinished lists the operations without an end.
func (s *session) unfinished() []Operation {
	return slices.DeleteFunc(s.operations(), func(op Operation) bool { return op.Snapshot().State.Terminal() })
}

// signed are the live signatures.
func (s *session) signed() []present.Signature {
	if s.deps.Outstanding == nil {
		return nil
	}
	return present.Signatures(s.Catalog, s.deps.Outstanding(s.now()), 0)
}

// closed are the signatures that own nodes closed.
func (s *session) closed() []present.Closed {
	if s.deps.Closed == nil {
		return nil
	}
	return present.ClosedSignatures(s.Catalog, s.deps.Closed(s.now()), 0)
}

// observe asks own nodes which signatures are used.
func (s *session) observe(ctx context.Context) {
	if s.deps.Observe == nil {
		return
	}
	if err := s.deps.Observe(ctx); err != nil && ctx.Err() == nil {
		s.out.note("Remark: " + sentence(why(err)))
	}
}

// activityWords counts, for the main menu, the operations and signatures that wait.
func (s *session) activityWords() string {
	var waits []string
	if n := len(s.unfinished()); n > 0 {
		waits = append(waits, plural(n, "unfinished operation", "unfinished operations"))
	}
	if n := len(s.signed()); n > 0 {
		waits = append(waits, plural(n, "outstanding signature", "outstanding signatures"))
	}
	if len(waits) == 0 {
		return ""
	}
	return ": " + strings.Join(waits, ", ")
}

// activity lists the operations in progress and the live signatures.
func (s *session) activity(ctx context.Context) error {
	for {
		s.news()
		s.observe(ctx)
		ops, live := s.unfinished(), s.signed()
		if len(ops)+len(live) == 0 {
			s.out.say("Nothing is under way, and nothing that you signed can still be used. Finished operations are " +
				"in the history.")
			s.tellClosed()
			return nil
		}
		m := menu{title: "Under way:"}
		if len(ops) == 0 {
			m.title = "Nothing is under way."
		}
		for _, o := range ops {
			x := o.Snapshot()
			m.items = append(m.items, s.what(x)+", begun "+s.date(x.Started)+": "+s.stateOf(x).Word)
		}
		switch closed := s.closed(); {
		case len(live) > 0:
			m.words = []word{{"s", plural(len(live), "outstanding signature", "outstanding signatures")}}
		case len(closed) > 0:
			m.words = []word{{"s", plural(len(closed), "signature that can no longer be used",
				"signatures that can no longer be used")}}
		}
		i, _, err := s.choose(ctx, m)
		if err != nil {
			return err
		}
		if i < 0 {
			err = s.signaturesOpen(ctx)
		} else {
			err = s.operation(ctx, ops[i])
		}
		if err != nil && !errors.Is(err, errBack) {
			return err
		}
	}
}

// operation describes one operation and the choices for it.
func (s *session) operation(ctx context.Context, o Operation) error {
	x := o.Snapshot()
	st := s.stateOf(x)
	s.out.say(capital(s.what(x)) + ": " + st.Word + ". " + st.Sentence)
	if x.Problem != "" && !x.State.Terminal() {
		s.out.note("Remark: " + sentence(clean(x.Problem, 500)))
	}
	s.failReason(x)
	if x.QuoteID != "" {
		s.out.fact(0, "Quote", present.Groups(clean(x.QuoteID, 512)))
	}
	switch x.State {
	case flow.StateReview1, flow.StateReview2, flow.StateQuoting:
		var m menu
		goOn := "Go on with it: review it"
		if x.Over {
			goOn = "Prepare it again"
		}
		if !x.Stuck {
			m.add(goOn, func() error {
				if of := s.foreign(x.Intent.Accounts); of != "" {
					s.out.say("This is of account " + of + ": use that account first, under Accounts.")
					return nil
				}
				change, err := s.reopen(ctx, o)
				return s.afterwards(ctx, change, err)
			})
		}
		m.add("Abandon it: it is never sent", func() error { return s.abandon(ctx, o, x) })
		return s.offer(ctx, m)
	case flow.StateAccepted, flow.StateUnknown:
		return s.follow(ctx, o)
	}
	return nil
}

// abandon abandons an operation that was not sent.
func (s *session) abandon(ctx context.Context, o Operation, x flow.Snapshot) error {
	text := "It is never sent then."
	switch {
	case x.BodyHash != "":
		text = "It is not sent again then; what was signed can still be used until it ends."
	case x.SignaturesDone > 0:
		text = "It is never sent then; what was signed can still be used until it ends."
	}
	yes, err := s.yes(ctx, text+" Abandon it?")
	if err != nil || !yes {
		return err
	}
	if err := o.Abandon(); err != nil {
		s.out.say("It was not abandoned: " + why(err))
		return nil
	}
	s.out.say("Abandoned.")
	return nil
}

// signaturesOpen lists the live signatures, voids one, and says their nonces in full.
func (s *session) signaturesOpen(ctx context.Context) error {
	for {
		live := s.signed()
		if len(live) > 0 {
			s.out.say("These signatures were given and can still be used by anyone who has them.")
		}
		var m menu
		long := false
		for i, o := range live {
			long = s.signature(i+1, o) || long
			if o.Voidable && s.deps.Void != nil {
				m.title = "A signature that never expires can be voided, if you know that it can no longer be used:"
				m.add("Void signature "+itoa(i+1), func() error { return s.void(ctx, o) })
			}
		}
		s.tellClosed()
		if long {
			m.add("Nonces in full", func() error { s.nonces(live); return nil })
		}
		if len(m.items) == 0 {
			return nil
		}
		i, _, err := s.choose(ctx, m)
		if err != nil {
			return err
		}
		if err := m.do[i](); err != nil && !errors.Is(err, errBack) {
			return err
		}
	}
}

// tellClosed lists the signatures that own nodes closed.
func (s *session) tellClosed() {
	list := s.closed()
	if len(list) > 0 {
		s.out.say(present.Cannot)
	}
	for _, x := range list {
		s.out.fact(2, capital(x.Name(s.Catalog)), x.Seen)
	}
}

// signature describes a signature: its purpose, what it allows, its expiry, and what ends it. It reports whether its
// nonce was too long to be said.
func (s *session) signature(n int, o present.Signature) (long bool) {
	s.out.say(itoa(n) + ". " + capital(o.Name(s.Catalog)) + ": " + o.Lasts(s.now(), s.clock, spanWords) + ".")
	what := ""
	for _, op := range s.operations() {
		if op.ID() == o.Operation {
			what = s.what(op.Snapshot())
		}
	}
	for _, r := range o.Rows(s.Catalog, what) {
		if r.Quiet && r.Address == "" {
			short := present.BriefDigits(r.Text)
			long, r.Text = long || short != r.Text, short
		}
		s.row(2, r)
	}
	return long
}

// nonces says the nonces of signatures in full, in groups.
func (s *session) nonces(of []present.Signature) {
	for i, o := range of {
		if n := o.Summary.Nonce; n != "" {
			s.out.where(2, "Nonce of signature "+itoa(i+1), address(clean(n, 80)))
		}
	}
}

// row prints a fact: an address with its kind, figures, or a text.
func (s *session) row(indent int, r present.Row) {
	text := r.Text
	if r.Money {
		text = s.masked(text)
	}
	for i, a := range r.Amounts {
		if i > 0 {
			text += ", "
		}
		text += s.masked(present.Human(a))
	}
	switch {
	case r.Label == "":
		s.out.note(sentence(text))
	case r.Address == "":
		s.out.fact(indent, r.Label, text)
	default:
		if r.Name != "" {
			r.Name += ", "
		}
		if text != "" {
			text = ", " + text
		}
		s.out.where(indent, r.Label, plain(r.Name), address(r.Address), plain(text))
	}
}

// void declares a signature dead, once the person has typed the end of the account's address by hand.
func (s *session) void(ctx context.Context, o present.Signature) error {
	s.out.say("Warning: anyone who has this signature can still use it until its nonce is used. Void it only if you " +
		"know that no one has it, or that its nonce was used. " +
		"After that it no longer blocks a new signature; it stays listed.")
	s.out.where(0, "Account", address(o.Summary.Sender))
	text, err := s.confirm(ctx, question{text: "To void it, type the last four characters of the account's address:"})
	if err != nil {
		return err
	}
	switch err := s.deps.Void(o.Hash, text); {
	case errors.Is(err, flow.ErrVoidTyped):
		s.out.say("That is not the end of the account's address. Nothing was voided.")
	case err != nil:
		s.out.say("It was not voided: " + why(err))
	default:
		s.out.say("Voided.")
	}
	return nil
}
