package linear

import (
	"context"
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/ui/present"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// maxLink bounds an explorer address, in characters: far above every real one.
const maxLink = 2048

// follow reports the progress of a sent operation, until it ends or the person stops listening.
func (s *session) follow(ctx context.Context, op Operation) error {
	f := follower{session: s, said: map[string]bool{}}
	s.unwatch(op)
	snap := op.Snapshot()
	defer func() { s.reported[op.ID()] = op.Snapshot().State.Terminal() }()
	f.hear(snap)
	if !under(snap) {
		return nil
	}
	s.out.say("Following it. Press Enter to stop; it continues, and Activity lists it.")
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
				s.out.say("Following it failed: " + why(end.err))
			}
			return ctx.Err()
		case r := <-typed:
			_, err := s.in.took(r)
			stop()
			end := <-done
			f.hear(end.snap)
			if err == nil && !end.snap.State.Terminal() {
				s.out.say("Stopped following. The operation goes on; the main menu says how it ended.")
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
	st := f.stateOf(x)
	for _, r := range x.Status.OriginChainOperations {
		f.once("Deposit on "+present.ChainName(f.Catalog, r.Chain), r)
	}
	for _, r := range x.Status.DestinationChainOperations {
		f.once("Ran on "+present.ChainName(f.Catalog, r.Chain), r)
	}
	if st.Word != f.state {
		f.state = st.Word
		text := st.Sentence
		if word := capital(st.Word); !strings.HasPrefix(text, word) {
			text = word + ". " + text
		}
		f.out.say(f.clock(f.now()) + " " + text)
		f.failReason(x)
	}
	for _, b := range present.Became(x.Became, x.Status.Status) {
		if !f.said[b.Text] {
			f.said[b.Text] = true
			f.out.say(capital(sentence(b.Text)))
		}
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
	s.out.fact(0, what+", transaction", present.Groups(clean(r.Hash, 512)))
	link := clean(r.ExplorerURL, maxLink)
	if link == "" || s.ctx.Network.Kind == network.Embedded { // those chains have no pages
		return
	}
	s.out.fact(2, "page", link)
	known, _ := verify.ExplorerURL(s.Catalog, s.ctx.Network.Kind, s.ctx.BaseURL, r.Chain, r.ExplorerURL)
	if !known {
		s.out.note("Warning: that is not a page of the known explorer; do not trust it.")
	}
}

// failReason says in plain words why the operation did not run, and gives the service's own term.
func (s *session) failReason(x flow.Snapshot) {
	s.refused(x.Status.FailReason)
}

// refused prints a reason of the service.
func (s *session) refused(reason string) {
	if words := present.FailReason(reason, present.Keys{}); words != "" {
		s.out.note(words + " The service says: " + clean(reason, 200) + ".")
	}
}

// stateOf is the state of an operation by the clock and the journal.
func (s *session) stateOf(x flow.Snapshot) present.State {
	live := present.LiveOf(s.signed(), s.closed(), x.ID, s.now(), s.deps.Outstanding != nil)
	return present.StateOf(x, live, s.clock, present.Keys{})
}

// what describes an operation in a phrase.
func (s *session) what(x flow.Snapshot) string { return present.Operation(s.Catalog, x) }

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
