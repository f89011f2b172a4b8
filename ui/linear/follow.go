package linear

import (
	"context"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
)

// maxLink bounds an explorer address, in characters: far above every real one.
const maxLink = 2048

// follow reports the progress of a sent operation, until it ends or the person stops listening.
func (s *session) follow(ctx context.Context, op Operation) error {
	f := follower{session: s, said: map[string]bool{}}
	s.unwatch(op)
	snap := op.Snapshot()
	defer func() { s.told[op.ID()] = op.Snapshot().State.Terminal() }()
	f.hear(snap)
	if !under(snap) {
		return nil
	}
	s.out.say("Following it. Press Enter to stop; it goes on by itself, and Activity knows of it.")
	life, stop := context.WithCancel(ctx)
	defer stop()
	type outcome struct {
		snap flow.Snapshot
		err  error
	}
	feed, done := make(chan flow.Snapshot, 16), make(chan outcome, 1)
	go func() {
		last, err := op.Watch(life, func(x flow.Snapshot) {
			select {
			case feed <- x:
			case <-life.Done():
			}
		})
		done <- outcome{last, err}
	}()
	over := false
	for {
		typed := (<-chan read)(nil)
		if !over { // after the end, a line answers the next question
			typed = s.in.ask()
		}
		select {
		case x := <-feed:
			f.hear(x)
			over = x.State.Terminal()
		case end := <-done:
			f.hear(end.snap)
			if end.err != nil && ctx.Err() == nil {
				s.out.say("Following it failed: " + sentence(clean(end.err.Error(), 300)))
			}
			return ctx.Err()
		case r := <-typed:
			_, err := s.in.took(r)
			stop()
			end := <-done
			f.hear(end.snap)
			if err == nil && !end.snap.State.Terminal() {
				s.out.say("Not followed any more. It goes on by itself; its end is told in front of the main menu.")
			}
			return err
		case <-ctx.Done():
			stop()
			<-done
			return ctx.Err()
		}
	}
}

// follower reports each event once.
type follower struct {
	*session
	said    map[string]bool
	state   string
	problem string
}

// hear prints the news of a snapshot.
func (f *follower) hear(x flow.Snapshot) {
	word, words := f.stand(x)
	for _, r := range x.Status.OriginChainOperations {
		f.once("Deposit on "+present.ChainName(f.ctx.Catalog, r.Chain), r)
	}
	for _, r := range x.Status.DestinationChainOperations {
		f.once("Ran on "+present.ChainName(f.ctx.Catalog, r.Chain), r)
	}
	if word != f.state {
		f.state = word
		f.out.say(f.clock(f.now()) + " " + capital(word) + ". " + words)
		f.failReason(x)
	}
	if x.Problem != f.problem && !x.State.Terminal() {
		if f.problem = x.Problem; f.problem != "" {
			f.out.note("Remark: " + sentence(clean(x.Problem, 500)))
		}
	}
}

// once prints a transaction once, in full.
func (f *follower) once(what string, r api.OperationRef) {
	id := what + " " + r.Chain + " " + r.Hash
	if f.said[id] {
		return
	}
	f.said[id] = true
	f.transaction(what, r)
}

// transaction prints a transaction and the address of its page. It marks an address that is no page of the known
// explorer (TH-H2).
func (s *session) transaction(what string, r api.OperationRef) {
	s.out.fact(0, what+", transaction", kit.Plain(present.Groups(clean(r.Hash, 512))))
	link := clean(r.ExplorerURL, maxLink)
	if link == "" || !s.ctx.Pages() {
		return
	}
	s.out.fact(2, "page", kit.Plain(link))
	if !s.ctx.KnownPage(r.Chain, r.ExplorerURL) {
		s.out.note("Warning: that is not a page of the known explorer; do not trust it.")
	}
}

// failReason says in plain words why the operation did not run, and gives the service's own term.
func (s *session) failReason(x flow.Snapshot) {
	said := clean(x.Status.FailReason, 200)
	if said == "" {
		return
	}
	what, todo := present.RefundReason(x.Status.FailReason)
	if what == "" {
		what = "Coffer has no words for this cause."
	}
	s.out.note(strings.TrimSpace(what+" "+todo) + " The service says: " + said + ".")
}

// sentBefore describes an operation whose quote was sent and not accepted.
const sentBefore = "An earlier quote was sent, and nothing shows that it was accepted. What was signed for it can " +
	"still be used until it ends. Ask for a new one, or abandon it."

// stand is the state of an operation by the clock and the journal: in a word or two, and in a sentence.
func (s *session) stand(x flow.Snapshot) (word, words string) {
	word, words = stateWords(x)
	zone := s.now().Location()
	switch {
	case x.Said:
		return "the service says: " + word, present.Said(x, isExchange(x), s.liveOf(x.ID), zone)
	case !isExchange(x) && x.BodyHash == "" && (x.State == flow.StateQuoting || x.State == flow.StateReview2):
		words = present.Signed(x, s.liveOf(x.ID), zone, "", "")
		switch {
		case x.Stuck:
			word = "can only be abandoned"
		case x.Over:
			word = "its time is over"
		}
	}
	return word, words
}

// liveOf counts the live signatures of an operation. Delegations do not count: each lives on its own.
func (s *session) liveOf(id string) present.Live {
	l, endless := present.Live{Known: s.deps.Outstanding != nil}, false
	for _, x := range s.outstanding() {
		if x.Op != id || x.Role == journal.RoleDelegation {
			continue
		}
		l.N++
		end, ends := x.Ends()
		if endless = endless || !ends; ends && end.After(l.Until) {
			l.Until = end
		}
	}
	if endless {
		l.Until = time.Time{}
	}
	return l
}

// stateWords is the state of an operation by its snapshot alone.
func stateWords(x flow.Snapshot) (word, words string) {
	noun := nounOf(x)
	switch x.State {
	case flow.StateDraft, flow.StatePreparing:
		return "being prepared", "The service is asked to prepare the operation. Nothing is signed."
	case flow.StateReview1:
		return "waits for review 1", "Nothing is signed. It goes on when you review it."
	case flow.StateRefused:
		return "refused", "Coffer refused the answer of the service."
	case flow.StateQuoting:
		switch {
		case !isExchange(x) && x.BodyHash == "":
			return "signed, no quote yet", "The first signature was given and can still be used. No payment is signed."
		case x.BodyHash != "":
			return "sent before, not accepted", sentBefore
		case x.SignaturesDone == 0:
			return "no quote yet", "The service is asked for a quote. Nothing is signed."
		}
		return "signed, not sent", "An earlier quote was signed and never sent. Ask for a new one, or abandon it."
	case flow.StateReview2:
		if isExchange(x) {
			return "waits for review", "Nothing is signed for this quote. It goes on when you review it."
		}
		if x.BodyHash != "" {
			return "waits for review 2", "Nothing is signed for this quote. What was signed before can still be used."
		}
		return "waits for review 2", "The first signature was given and can still be used. No payment is signed."
	case flow.StateSigning:
		return "signing", "The payments are being signed."
	case flow.StateNotExecuted:
		return "never ran", "The quote has expired and the service never started it: nothing was paid."
	case flow.StateAbandoned:
		if x.BodyHash != "" {
			return "abandoned", "It was sent before, and nothing shows that it was accepted. What was signed is " +
				"listed under outstanding signatures until it ends."
		}
		return "abandoned",
			"It was never sent. A signature that was given is listed under outstanding signatures until it ends."
	case flow.StateUnknown:
		return "outcome unknown", "The request to run this may or may not have reached the service. It is never sent " +
			"again, so it cannot run twice. " +
			"Coffer keeps asking for the status of this quote; do not build the same " + noun + " again before that."
	}
	return statusWords(x)
}

// statusWords puts the service's status into words. Only COMPLETED is a success (TH-H4).
func statusWords(x flow.Snapshot) (word, words string) {
	ran, back, failed := "Your call ran", "Your call did not run.", "Your call did not run"
	if isExchange(x) {
		ran, back, failed = "It was delivered", "Nothing was delivered.", "Nothing was delivered"
	}
	switch x.Status.Status {
	case "":
		switch x.State {
		case flow.StateDone:
			return "completed", ran + " and every payment is settled."
		case flow.StateFailed:
			return "failed", "It did not run."
		}
		return "sent", "The service has not reported a status yet."
	case api.StatusPending:
		return "accepted", "The service has accepted it and has not started yet."
	case api.StatusInProgress:
		return "under way", "The payments are on their way; nothing has run yet."
	case api.StatusExecuted:
		return "ran", ran + ". The payments are being settled."
	case api.StatusCompleted:
		return "completed", ran + " and every payment is settled."
	case api.StatusRefunded:
		return "refunded", back + " What had been paid came back to your account, fees included."
	case api.StatusFailed:
		return "failed", failed + " and no payment arrived: nothing left your account."
	}
	return clean(x.Status.Status, 40),
		"The service reports a status that Coffer does not know. It is taken as not ended."
}

// what describes an operation in a phrase.
func (s *session) what(x flow.Snapshot) string {
	d := x.Intent
	if isExchange(x) && d.Pay != nil && d.Receive != nil {
		pays := present.AssetName(s.ctx.Catalog, d.Pay.Asset)
		if isExchange(x) && d.Pay.Asset != d.Receive.Asset && d.Kind != "transfer" {
			return "swap " + pays + " for " + present.AssetName(s.ctx.Catalog, d.Receive.Asset)
		}
		text := "transfer " + pays
		if a, err := caip.ParseAccount(d.Receive.Account); err == nil {
			text += " to " + present.ChainName(s.ctx.Catalog, a.Chain.String())
		}
		return text
	}
	where := present.ChainName(s.ctx.Catalog, d.TargetChain)
	if n := len(d.Calls); n != 1 {
		return plural(n, "call", "calls") + " on " + where
	}
	name, _, found := strings.Cut(d.Calls[0].Function, "(")
	if !found || name == "" {
		name = "call"
	}
	return clean(name, 40) + " on " + where
}

// accountIn is the address of a CAIP-10 account, "" for any other text.
func accountIn(account string) string {
	a, err := caip.ParseAccount(account)
	if err != nil {
		return ""
	}
	return a.Address
}

// chainIn is the chain of a CAIP-19 asset, "" for an aggregated one.
func chainIn(asset string) string {
	a, err := caip.ParseAsset(asset)
	if err != nil {
		return ""
	}
	return a.Chain.String()
}
