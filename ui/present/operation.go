package present

import (
	"strings"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Meaning is what a fact means for the person; a front end gives it a sign or a colour, or leaves it to the words.
type Meaning int

// The meanings.
const (
	None Meaning = iota
	Good
	Warn
	Danger
	Unknown
)

// State is the state of an operation: a word or two for a list, its meaning, and an explanation in a sentence or two.
type State struct {
	Word     string
	Meaning  Meaning
	Sentence string
}

// Keys names the keys of a front end in the sentences, each with a space before it, such as " (x)": Go goes on with an
// operation, Abandon leaves it, Bundle copies the support bundle. "" where a front end has no such key.
type Keys struct{ Go, Abandon, Bundle string }

// operator says whom to ask: with the support bundle where a front end makes one.
func (k Keys) operator(copies, asks string) string {
	if k.Bundle == "" {
		return asks
	}
	return copies
}

// StateOf is the state of an operation by its snapshot, and by the clock and the journal, which know the signatures
// that still live. at writes a moment. An unknown status is named and never taken for an end (TH-H4).
func StateOf(x flow.Snapshot, l Live, at func(time.Time) string, k Keys) State {
	s := bySnapshot(x, k)
	switch {
	case x.Said:
		s.Word, s.Sentence = "service: "+s.Word, Said(x, l, at)
		if x.State == flow.StateNotExecuted {
			s.Meaning = Warn
		}
	case !x.Intent.Exchanges() && x.BodyHash == "" && !x.Paid &&
		(x.State == flow.StateQuoting || x.State == flow.StateReview2):
		s.Sentence = Signed(x, l, at, k)
		switch {
		case x.Stuck:
			s.Word = "can only be abandoned"
		case x.Over:
			s.Word = "it has expired"
		}
	}
	return s
}

// bySnapshot is the state of an operation by its snapshot alone.
func bySnapshot(x flow.Snapshot, k Keys) State {
	if s, ok := paidOnce(x); ok {
		return s
	}
	switch x.State {
	case flow.StateDraft, flow.StatePreparing:
		return State{"being prepared", None, "The service is asked to prepare the operation. Nothing is signed."}
	case flow.StateReview1:
		return State{"waits for review 1", Warn, "Nothing is signed. It goes on when you review it."}
	case flow.StateRefused:
		return State{"refused", Danger, "Coffer refused the answer of the service."}
	case flow.StateQuoting:
		if x.Intent.Exchanges() {
			return quotingExchange(x)
		}
		return State{"signed, no quote yet", Warn,
			"The first signature was given and can still be used. No payment is signed."}
	case flow.StateReview2:
		if x.Intent.Exchanges() {
			return State{"waits for review", Warn, "Nothing is signed for this quote. It goes on when you review it."}
		}
		return State{"waits for review 2", Warn, "The first signature was given and can still be used. No " +
			"payment is signed; it goes on when you review the costs."}
	case flow.StateSigning:
		return State{"signing", None, "The payments are being signed."}
	case flow.StateNotExecuted:
		return State{"never ran", Good,
			"The quote has expired and the service never started it: nothing was paid."}
	case flow.StateAbandoned:
		return State{"abandoned", None, "You abandoned it; it was never sent. A signature that was given is " +
			"listed under outstanding signatures until it ends."}
	case flow.StateUnknown:
		return State{"OUTCOME UNKNOWN", Unknown, "The request to run this may or may not have reached the service. " +
			"It is never sent again, so it cannot run twice. Coffer keeps asking for the status of this quote: if it " +
			"ran, the steps appear here; if the quote has expired and the service does not know it, it is closed as " +
			"never run. Do not build the same " + Noun(x) + " again before that."}
	}
	return statusOf(x, k)
}

// paidOnce describes an operation with payments that were signed for an earlier quote, which was not accepted as far as
// anything shows, or not even sent: its signatures live on, whatever is asked for next.
func paidOnce(x flow.Snapshot) (State, bool) {
	if x.BodyHash == "" && !x.Paid {
		return State{}, false
	}
	live := "An earlier quote was sent, and nothing shows that it was accepted; what was signed for it is " +
		"listed under outstanding signatures until it ends. "
	if x.BodyHash == "" {
		live = "The payments were signed and not sent; they are listed under outstanding signatures until they end. "
	}
	switch x.State {
	case flow.StateReview1:
		return State{"waits for review 1", Warn, live + "Nothing is signed of what waits now."}, true
	case flow.StateQuoting:
		return State{"no new quote yet", Warn, live + "Ask for a new quote, or abandon it."}, true
	case flow.StateReview2:
		word := "waits for review 2"
		if x.Intent.Exchanges() {
			word = "waits for review"
		}
		return State{word, Warn, live + "No payment of the new quote is signed; it goes on when you review it."}, true
	case flow.StateAbandoned:
		return State{"abandoned", None, "You abandoned it. " + strings.TrimSpace(live)}, true
	}
	return State{}, false
}

func quotingExchange(x flow.Snapshot) State {
	if x.SignaturesDone == 0 {
		return State{"no quote yet", None, "Coffer asks the service for a quote. Nothing is signed."}
	}
	return State{"signed, not sent", Warn, "An earlier quote was signed and never sent. Ask for a new " +
		"quote, or abandon it; what was signed is listed under outstanding signatures."}
}

// statusOf puts the service's status into words. Only COMPLETED is a success.
func statusOf(x flow.Snapshot, k Keys) State {
	done, ran, under, back, failed := "Your call ran", "your call ran", "your call has not run yet",
		"Your call did not run.", "Your call did not run"
	if x.Intent.Exchanges() {
		done, ran, under, back, failed = "It was delivered", "delivered", "nothing is delivered yet",
			"Nothing was delivered.", "Nothing was delivered"
	}
	final := done + ", and that is final."
	switch x.Status.Status {
	case "":
		if x.State == flow.StateDone {
			return State{"COMPLETED", Good, final}
		}
		if x.State == flow.StateFailed {
			return State{"FAILED", Danger, "It did not run."}
		}
		return State{"sent", None, "Sent. The service has not reported a status yet; Coffer asks by itself."}
	case api.StatusPending:
		return State{"accepted", None,
			"The service has accepted it and has not started yet. There is nothing to do; you may close Coffer."}
	case api.StatusInProgress:
		return State{"under way", None, "The payments are on their way; " + under +
			". There is nothing to do; you may close Coffer."}
	case api.StatusExecuted:
		if x.Intent.Exchanges() {
			return State{ran, Good, done + ". The payments are being settled."}
		}
		return State{ran, Good, done + " on the target chain. The payments on the other chains are being settled."}
	case api.StatusCompleted:
		return State{"COMPLETED", Good, final}
	case api.StatusRefunded:
		return State{"REFUNDED", Warn, back +
			" Everything paid was refunded to your account, fees included. You can build it again."}
	case api.StatusFailed:
		return State{"FAILED", Danger, failed +
			" and no payment arrived: nothing left your account. You can build it again."}
	}
	return State{verify.Status(x.Status.Status).Text, Unknown, "The service reports a status that Coffer does not " +
		"know. It is taken as not ended: do not build the same again before it ends. " +
		k.operator("The support bundle"+k.Bundle+" helps to ask the operator.", "Ask the operator of the service.")}
}

// Recorded is an operation of the journal as far as its record alone says: its state, its quote and its end.
func Recorded(c *catalog.Catalog, rec journal.Operation) flow.Snapshot {
	x := flow.Snapshot{ID: rec.ID, Started: rec.Started, QuoteID: rec.QuoteID, BodyHash: rec.BodyHash,
		State: flow.StateQuoting, SignaturesDone: len(rec.Signatures),
		Status: api.ExecutionStatus{QuoteID: rec.QuoteID, Status: rec.Outcome}}
	if in, err := intent.Parse(rec.Intent, api.Rules{Catalog: c}); err == nil {
		x.Intent = in.Draft()
	}
	switch rec.State {
	case journal.Intent:
		x.State = flow.StateDraft
	case journal.Prepared:
		x.State = flow.StateReview1
	case journal.Executing:
		x.State = flow.StateUnknown
	case journal.Acked:
		x.State = flow.StateAccepted
	case journal.NotExecuted:
		x.State = flow.StateNotExecuted
	case journal.Abandoned:
		x.State = flow.StateAbandoned
	case journal.Done:
		if x.State = flow.StateFailed; rec.Outcome == api.StatusCompleted {
			x.State = flow.StateDone
		}
	}
	return x
}

// Noun names the kind of an operation: "call", "swap" or "transfer".
func Noun(x flow.Snapshot) string {
	if x.Intent.Exchanges() {
		return x.Intent.Kind
	}
	return "call"
}

// Operation describes an operation in a phrase: "transfer on Base", "3 calls on Base", "swap USDC for ETH", "transfer
// USDC to Base".
func Operation(c *catalog.Catalog, x flow.Snapshot) string {
	if d := x.Intent; d.Exchanges() && d.Pay != nil && d.Receive != nil {
		pays := AssetName(c, d.Pay.Asset)
		if d.Kind == intent.KindSwap {
			return "swap " + pays + " for " + AssetName(c, d.Receive.Asset)
		}
		to := "transfer " + pays
		if a, err := caip.ParseAccount(d.Receive.Account); err == nil {
			to += " to " + ChainName(c, a.Chain.String())
		}
		return to
	}
	if x.Intent.TargetChain == "" {
		return "an operation that cannot be read"
	}
	where := ChainName(c, x.Intent.TargetChain)
	if n := len(x.Intent.Calls); n != 1 {
		return Plural(n, "call", "calls") + " on " + where
	}
	name, _, found := strings.Cut(x.Intent.Calls[0].Function, "(")
	if !found || name == "" {
		name = "call"
	}
	return Clean(name, 40) + " on " + where
}
