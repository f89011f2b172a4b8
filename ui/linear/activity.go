package linear

import (
	"context"
	"errors"
	"slices"
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// unfinished lists the operations without an end.
func (s *session) unfinished() []Operation {
	return slices.DeleteFunc(s.operations(), func(op Operation) bool { return op.Snapshot().State.Terminal() })
}

func (s *session) outstanding() []journal.Outstanding {
	if s.deps.Outstanding == nil {
		return nil
	}
	return s.deps.Outstanding(s.now())
}

// activityWords counts, for the main menu, the operations and signatures that wait.
func (s *session) activityWords() string {
	text := ""
	if n := len(s.unfinished()); n > 0 {
		text = ": " + plural(n, "unfinished operation", "unfinished operations")
	}
	if n := len(s.outstanding()); n > 0 {
		if text == "" {
			text = ":"
		} else {
			text += ","
		}
		text += " " + plural(n, "outstanding signature", "outstanding signatures")
	}
	return text
}

// activity lists the operations in progress and the live signatures.
func (s *session) activity(ctx context.Context) error {
	for {
		s.news()
		ops, live := s.unfinished(), s.outstanding()
		if len(ops)+len(live) == 0 {
			s.out.say("Nothing is under way, and nothing that you signed can still be used. What has ended is in the " +
				"history.")
			return nil
		}
		m := menu{title: "Under way:"}
		if len(ops) == 0 {
			m.title = "Nothing is under way."
		}
		for _, o := range ops {
			x := o.Snapshot()
			word, _ := s.stand(x)
			m.items = append(m.items, s.what(x)+", begun "+s.date(x.Started)+": "+word)
		}
		if len(live) > 0 {
			m.words = []word{{"s", plural(len(live), "outstanding signature", "outstanding signatures")}}
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
	word, words := s.stand(x)
	s.out.say(capital(s.what(x)) + ": " + word + ". " + words)
	if x.Problem != "" && !x.State.Terminal() {
		s.out.note("Remark: " + sentence(clean(x.Problem, 500)))
	}
	s.failReason(x)
	if x.QuoteID != "" {
		s.out.fact(0, "Quote", kit.Plain(present.Groups(clean(x.QuoteID, 512))))
	}
	switch x.State {
	case flow.StateReview1, flow.StateReview2, flow.StateQuoting:
		goOn := []string{"Go on with it: review it"}
		switch {
		case x.Stuck:
			goOn = nil
		case x.Over:
			goOn = []string{"Prepare it again"}
		}
		i, _, err := s.choose(ctx, menu{items: append(goOn, "Abandon it: it is never sent")})
		switch {
		case err != nil:
			return err
		case i == 0 && len(goOn) > 0:
			change, err := s.reopen(ctx, o)
			return s.afterwards(ctx, change, err)
		}
		return s.abandon(ctx, o, x)
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
		s.out.say("It was not abandoned: " + sentence(clean(err.Error(), 300)))
		return nil
	}
	s.out.say("Abandoned.")
	return nil
}

// signaturesOpen lists the live signatures, and voids one.
func (s *session) signaturesOpen(ctx context.Context) error {
	for {
		live := s.outstanding()
		var voidable []journal.Outstanding
		s.out.say("These signatures were given and can still be used by whoever has them.")
		m := menu{
			title: "A signature that no time ends can be declared dead, if you know that it cannot be used any more:"}
		for i, o := range live {
			s.signature(i+1, o)
			if o.Voidable() && o.VoidedAt.IsZero() && s.deps.Void != nil {
				voidable = append(voidable, o)
				m.items = append(m.items, "Void signature "+itoa(i+1))
			}
		}
		if len(voidable) == 0 {
			return nil
		}
		i, _, err := s.choose(ctx, m)
		if err != nil {
			return err
		}
		if err := s.void(ctx, voidable[i]); err != nil && !errors.Is(err, errBack) {
			return err
		}
	}
}

// signature describes a signature: its purpose, what it allows, its expiry, and what ends it.
func (s *session) signature(n int, o journal.Outstanding) {
	where := present.ChainName(s.ctx.Catalog, o.Chain)
	until := "it has no end of its own"
	if end, ends := o.Ends(); ends {
		t := time.Unix(o.ValidUntil, 0)
		if until = "usable until " + s.clock(t) + ", for " + spanWords(t.Sub(s.now())); !t.After(s.now()) {
			until = "its time is over; it is counted until " + s.clock(end) + ", as clocks differ"
		}
	}
	if !o.VoidedAt.IsZero() {
		until = "voided by you at " + s.date(o.VoidedAt)
	}
	s.out.say(itoa(n) + ". " + roleWords(o.Role) + " on " + where + ", " + until + ".")
	s.out.fact(2, "account, "+present.AccountType(o.Kind), address(o.Sender))
	if o.Role == journal.RoleDelegation {
		if o.Delegation != nil {
			s.out.fact(2, "the code", address(o.Delegation.Contract))
		}
		s.out.fact(2, "allows", kit.Plain("the code to control everything in this EOA there, until you change it"))
	} else {
		s.out.fact(2, "allows", kit.Plain(s.allows(o)))
	}
	if o.BlockHash != "" {
		s.out.fact(2, "block hash", address(o.BlockHash))
	} else {
		s.out.fact(2, "nonce", kit.Plain(clean(o.Nonce, 80)))
	}
	ends := clean(o.Void, 600)
	if ends == "" {
		ends = "Not known: take it to be usable for ever."
	}
	s.out.fact(2, "ends", kit.Plain(ends))
}

// allows says what a signature lets somebody move.
func (s *session) allows(o journal.Outstanding) string {
	text := ""
	for _, p := range o.Spend {
		v := verify.AmountView{Decimals: -1}
		v.Asset, _ = caip.ParseAsset(p.Asset)
		v.Amount, _ = amount.ParseBase(p.Amount)
		if e, ok := s.ctx.Catalog.Entity(v.Asset); ok {
			v.Symbol, v.Decimals = e.Symbol, e.Decimals
		}
		if text != "" {
			text += ", "
		}
		text += s.masked(figure(v))
	}
	if text == "" {
		return "nothing of a known value; the reviewed calls can run"
	}
	return text
}

func roleWords(role string) string {
	switch role {
	case verify.RolePrepared:
		return "The call itself"
	case verify.RoleFunding:
		return "A payment"
	case verify.RoleSwap:
		return "The payment of a swap"
	case verify.RoleTransfer:
		return "The payment of a transfer"
	case journal.RoleDelegation:
		return "A delegation of your EOA"
	}
	return "A signature of an unknown kind"
}

// void declares a signature dead, once the person has typed the end of the account's address by hand.
func (s *session) void(ctx context.Context, o journal.Outstanding) error {
	s.out.say("Warning: whoever holds this signature can still use it until its nonce is used. Void it only if you " +
		"know that nobody holds it, or that its nonce was used. " +
		"From then on it is in the way of no new signature; it stays listed.")
	s.out.fact(0, "Account", address(o.Sender))
	text, err := s.confirm(ctx, question{text: "To void it, type the last four characters of the account's address:"})
	if err != nil {
		return err
	}
	switch err := s.deps.Void(o.OpHash, text); {
	case errors.Is(err, flow.ErrVoidTyped):
		s.out.say("That is not the end of the account's address. Nothing was voided.")
	case err != nil:
		s.out.say("It was not voided: " + sentence(clean(err.Error(), 300)))
	default:
		s.out.say("Voided.")
	}
	return nil
}
